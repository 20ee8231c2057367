"""Code that has the cause `gradient-outside-scope`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="A gradient that is taken after the device scope has ended.",
    before="""\
with tf.device("GPU:1"):
    w = tf.Variable(tf.random.normal((64, 64)))


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        with tf.device("GPU:1"):
            loss = tf.reduce_mean(tf.matmul(w, w) ** 2)
    w.assign_sub(tape.gradient(loss, w))  # <- gradient-outside-scope


for _ in range(10):
    train_step()
""",
    after="""\
with tf.device("GPU:1"):
    w = tf.Variable(tf.random.normal((64, 64)))


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        with tf.device("GPU:1"):
            loss = tf.reduce_mean(tf.matmul(w, w) ** 2)
    with tf.device("GPU:1"):
        w.assign_sub(tape.gradient(loss, w))


for _ in range(10):
    train_step()
""",
)
