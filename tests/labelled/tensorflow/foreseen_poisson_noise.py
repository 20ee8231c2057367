"""Noise that depends on the signal is drawn for each batch in the scope of a card.

https://github.com/tensorflow/tensorflow/issues/35502: "it does not appear that the TensorFlow Poisson noise
generator has GPU support".

case: preflight

An expert: RandomPoissonV2 has a kernel for the host only (random_poisson_op.cc), so the rates go down and the noise
comes back in each step.
"""

import tensorflow as tf

with tf.device("/GPU:0"):
    w = tf.Variable(tf.random.normal((64, 10)), name="w")
optimizer = tf.keras.optimizers.SGD(0.01)


def noisy(images):
    return tf.random.poisson([], images)  # expect: no-kernel


@tf.function
def train_step(images):
    with tf.device("/GPU:0"):
        with tf.GradientTape() as tape:
            x = tf.stop_gradient(noisy(images))
            loss = tf.reduce_mean(tf.matmul(x, w) ** 2)
        gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w], strict=True))


with tf.device("/GPU:0"):
    images = tf.random.uniform((256, 64)) * 10.0
for _ in range(8):
    train_step(images)
