"""A language model is trained with a sampled softmax over its vocabulary.

https://github.com/tensorflow/tensorflow/issues/9101: "My guess is the log_uniform_candidate_sampler cannot run on
GPU".

case: preflight

An expert: right, the sampler has a kernel for the host only; the labels go down to it and its candidates come up in
each step, at the line of the loss. It is a few ids; the products stay on the card.
"""

import tensorflow as tf

weights = tf.Variable(tf.random.normal((2000, 64), stddev=0.1), name="weights")
biases = tf.Variable(tf.zeros((2000,)), name="biases")
optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def train_step(hidden, labels):
    with tf.GradientTape() as tape:
        losses = tf.nn.sampled_softmax_loss(weights, biases, labels, hidden, 64, 2000)  # expect: no-kernel
        loss = tf.reduce_mean(losses)
    gradients = tape.gradient(loss, [weights, biases])
    optimizer.apply_gradients(zip(gradients, [weights, biases], strict=True))


hidden = tf.random.normal((128, 64))
labels = tf.random.uniform((128, 1), maxval=2000, dtype=tf.int64)
for _ in range(8):
    train_step(hidden, labels)
