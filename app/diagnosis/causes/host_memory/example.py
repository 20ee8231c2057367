"""Code that has the cause `host-memory`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="Row numbers, which are int32, handed to a function.",
    before="""\
@tf.function
def picked(x, rows):
    with tf.device("GPU:0"):
        return tf.gather(x, rows + 1)  # <- host-memory


with tf.device("GPU:0"):
    x = tf.random.normal((32, 64))
    rows = tf.cast(x[:8, 0] > 0, tf.int32)
for _ in range(10):
    picked(x, rows)
""",
)
