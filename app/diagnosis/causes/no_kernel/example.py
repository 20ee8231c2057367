"""Code that has the cause `no-kernel`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="Rows that are shuffled in a GPU's scope.",
    before="""\
with tf.device("GPU:0"):
    x = tf.random.normal((256, 64))


@tf.function
def negatives(x):
    with tf.device("GPU:0"):
        shuffled = tf.random.shuffle(x * 2.0)  # <- no-kernel
        return tf.nn.relu(shuffled)


for _ in range(10):
    negatives(x)
""",
    after="""\
with tf.device("GPU:0"):
    x = tf.random.normal((256, 64))


@tf.function
def negatives(x):
    with tf.device("GPU:0"):
        order = tf.argsort(tf.random.uniform((256,)))
        shuffled = tf.gather(x * 2.0, order)
        return tf.nn.relu(shuffled)


for _ in range(10):
    negatives(x)
""",
)
