"""Code that has the cause `bounce`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="Activations that are put down on the host between two GPUs.",
    before="""\
with tf.device("GPU:0"):
    w = tf.Variable(tf.random.normal((64, 64)))

for _ in range(10):
    with tf.device("GPU:0"):
        hidden = tf.matmul(w, w)
    with tf.device("CPU:0"):
        hidden = tf.identity(hidden)  # <- bounce
    with tf.device("GPU:1"):
        logits = tf.nn.softmax(hidden)
""",
    after="""\
with tf.device("GPU:0"):
    w = tf.Variable(tf.random.normal((64, 64)))

for _ in range(10):
    with tf.device("GPU:0"):
        hidden = tf.matmul(w, w)
    with tf.device("GPU:1"):
        logits = tf.nn.softmax(hidden)
""",
)
