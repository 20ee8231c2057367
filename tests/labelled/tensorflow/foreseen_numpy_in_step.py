"""A target is made by numpy inside a training step, through tf.numpy_function.

https://github.com/tensorflow/tensorflow/issues/34718 has a function of Python's that is asked for on a card.

case: preflight

An expert: Python runs on the host, in the middle of the graph: in each step the scores are waited for and come down,
and the target goes up.
"""

import numpy as np
import tensorflow as tf

w = tf.Variable(tf.random.normal((32, 4)), name="w")


def sharpen(scores):
    return np.exp(scores * 2).astype(np.float32)


@tf.function
def train_step(x):
    scores = tf.matmul(x, w)
    target = tf.numpy_function(sharpen, [scores], tf.float32)  # expect: host-sync
    target.set_shape((256, 4))
    w.assign_sub(0.0001 * tf.matmul(x, scores - target, transpose_a=True))


x = tf.random.normal((256, 32))
for _ in range(8):
    train_step(x)
