"""Code that has the cause `colocation`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="A counter of one GPU that is advanced in the scope of another.",
    before="""\
with tf.device("GPU:0"):
    seen = tf.Variable(tf.zeros((64,)))
with tf.device("GPU:1"):
    x = tf.random.normal((16, 64))


@tf.function
def count(x):
    with tf.device("GPU:1"):
        seen.assign_add(tf.reduce_sum(x * x, axis=0))  # <- colocation


for _ in range(10):
    count(x)
""",
)
