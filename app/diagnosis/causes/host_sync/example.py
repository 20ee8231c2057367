"""Code that has the cause `host-sync`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="A loss that Python reads in each step.",
    before="""\
with tf.device("GPU:0"):
    w = tf.Variable(tf.random.normal((64, 64)))

losses = []
for _ in range(10):
    with tf.device("GPU:0"):
        loss = tf.reduce_mean(tf.matmul(w, w) ** 2)
    losses.append(loss.numpy())  # <- host-sync
""",
    after="""\
with tf.device("GPU:0"):
    w = tf.Variable(tf.random.normal((64, 64)))

losses = []
for _ in range(10):
    with tf.device("GPU:0"):
        loss = tf.reduce_mean(tf.matmul(w, w) ** 2)
    losses.append(loss)
with tf.device("GPU:0"):
    losses = list(tf.stack(losses).numpy())
""",
)
