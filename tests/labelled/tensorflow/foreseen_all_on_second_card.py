"""A model, its variables, its optimizer and its step are all in the scope of the second card.

https://github.com/tensorflow/tensorflow/issues/35849: everything is pinned to "/gpu:1", and the question is
whether anything runs on the first card.

case: preflight

An expert: nothing crosses in the steps; there is nothing to warn of.
"""

import tensorflow as tf

DEVICE = "/gpu:1"

with tf.device(DEVICE):
    w = tf.Variable(tf.random.normal((20, 5)), name="w")
    b = tf.Variable(tf.zeros((5,)), name="b")
    optimizer = tf.optimizers.Adam(1e-3)
    optimizer.build([w, b])
    x = tf.random.normal((64, 20))
    y = tf.random.normal((64, 5))


@tf.function
def train_one_batch(x, y):
    with tf.device(DEVICE):
        with tf.GradientTape() as tape:
            loss = tf.nn.l2_loss(tf.matmul(x, w) + b - y)
        gradients = tape.gradient(loss, [w, b])
        optimizer.apply_gradients(zip(gradients, [w, b], strict=True))


for _ in range(8):
    train_one_batch(x, y)
