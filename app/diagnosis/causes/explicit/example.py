"""Code that has the cause `explicit`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="One layer after the other, each on a GPU of its own.",
    before="""\
with tf.device("GPU:0"):
    x = tf.random.normal((32, 64))


@tf.function
def forward(x):
    with tf.device("GPU:0"):
        hidden = tf.nn.relu(x)
    with tf.device("GPU:1"):
        return tf.nn.softmax(hidden)  # <- explicit


for _ in range(10):
    forward(x)
""",
)
