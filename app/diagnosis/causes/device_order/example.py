"""Code that has the cause `device-order`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="A program that chooses its GPU by CUDA's variable.",
    before="""\
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
import tensorflow as tf

with tf.device("GPU:0"):  # which nvidia-smi calls 1
    w = tf.Variable(tf.random.normal((64, 64)))
""",
    after="""\
import tensorflow as tf  # the run is launched with --devices gpu:1

with tf.device("GPU:0"):
    w = tf.Variable(tf.random.normal((64, 64)))
""",
)
