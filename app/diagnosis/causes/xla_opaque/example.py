"""Code that has the cause `xla-opaque`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="Device scopes in a function that XLA compiles.",
    before="""\
with tf.device("GPU:0"):
    x = tf.random.normal((64, 64))


@tf.function(jit_compile=True)  # <- xla-opaque
def forward(x):
    with tf.device("GPU:0"):
        hidden = tf.matmul(x, x)
    with tf.device("GPU:1"):
        return tf.reduce_sum(hidden)


for _ in range(10):
    forward(x)
""",
    after="""\
with tf.device("GPU:0"):
    x = tf.random.normal((64, 64))


@tf.function(jit_compile=False)
def forward(x):
    with tf.device("GPU:0"):
        hidden = tf.matmul(x, x)
    with tf.device("GPU:1"):
        return tf.reduce_sum(hidden)


for _ in range(10):
    forward(x)
""",
)
