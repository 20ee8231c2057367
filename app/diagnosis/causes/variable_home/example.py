"""Code that has the cause `variable-home`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="A weight that is kept on the host and used on a GPU.",
    before="""\
with tf.device("CPU:0"):
    w = tf.Variable(tf.random.normal((64, 64)))


@tf.function
def forward():
    with tf.device("GPU:0"):
        return tf.reduce_sum(w * 2.0)  # <- variable-home


for _ in range(10):
    forward()
""",
    after="""\
with tf.device("GPU:0"):
    w = tf.Variable(tf.random.normal((64, 64)))


@tf.function
def forward():
    with tf.device("GPU:0"):
        return tf.reduce_sum(w * 2.0)


for _ in range(10):
    forward()
""",
)
