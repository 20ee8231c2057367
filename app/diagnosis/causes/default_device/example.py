"""Code that has the cause `default-device`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="A loss that stands outside the device scope of its inputs.",
    before="""\
with tf.device("GPU:1"):
    w = tf.Variable(tf.random.normal((64, 64)))

for _ in range(10):
    with tf.device("GPU:1"):
        hidden = tf.matmul(w, w)
    loss = tf.reduce_mean(hidden)  # <- default-device
""",
    after="""\
with tf.device("GPU:1"):
    w = tf.Variable(tf.random.normal((64, 64)))

for _ in range(10):
    with tf.device("GPU:1"):
        hidden = tf.matmul(w, w)
        loss = tf.reduce_mean(hidden)
""",
)
