"""Code that has the cause `host-upload`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="Batches of numpy that are handed to an op on a GPU.",
    before="""\
with tf.device("GPU:0"):
    w = tf.Variable(tf.random.normal((64, 10)))

images = np.random.rand(10, 32, 64).astype("float32")
for batch in images:
    with tf.device("GPU:0"):
        logits = tf.matmul(batch, w)  # <- host-upload
""",
)
