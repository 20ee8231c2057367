"""Code that has the cause `missing-device`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="A third GPU of a machine that has two.",
    before="""\
tf.config.set_soft_device_placement(True)

with tf.device("GPU:2"):  # <- missing-device
    x = tf.random.normal((32, 64))
""",
    after="""\
tf.config.set_soft_device_placement(True)

with tf.device("GPU:1"):
    x = tf.random.normal((32, 64))
""",
)
