"""A model is split over two cards, and its gradients are computed outside of both scopes.

https://github.com/tensorflow/tensorflow/issues/33688: "The forward pass is executed based on my device placement.
However, the tape.gradients execution happens only in GPU 0", with "a ton of P2P transfers happening to GPU 0".

case: preflight

An expert: the backward pass of the second half runs on the first card, because nobody asked for another. That
the hidden layer crosses from the first half to the second is meant.
"""

import tensorflow as tf

with tf.device("/GPU:0"):
    first = tf.Variable(tf.random.normal((64, 256)), name="first")
with tf.device("/GPU:1"):
    second = tf.Variable(tf.random.normal((256, 10)), name="second")
optimizer = tf.keras.optimizers.SGD(0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        with tf.device("/GPU:0"):
            hidden = tf.nn.relu(tf.matmul(x, first))
        with tf.device("/GPU:1"):
            loss = tf.reduce_mean((tf.matmul(hidden, second) - y) ** 2)  # expect: explicit
    gradients = tape.gradient(loss, [first, second])  # expect: gradient-outside-scope
    optimizer.apply_gradients(zip(gradients, [first, second], strict=True))  # may: colocation


with tf.device("/GPU:0"):
    x = tf.random.normal((512, 64))
with tf.device("/GPU:1"):
    y = tf.random.normal((512, 10))
for _ in range(8):
    train_step(x, y)
