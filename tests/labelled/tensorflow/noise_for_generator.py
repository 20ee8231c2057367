"""A generator's noise is drawn in each step where no device is named, and handed to a function on the card.

https://github.com/tensorflow/tensorflow/issues/34519

An expert: nothing keeps the draw on the host; draw it in the card's scope. The images come from an input pipeline
of the host, which has to give them.
"""

import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
)
BATCH, NOISE, PIXELS = 32, 64, 256

with tf.device("CPU:1"):
    makes = tf.Variable(tf.random.normal((NOISE, PIXELS), stddev=0.1))
    judges = tf.Variable(tf.random.normal((PIXELS, 1), stddev=0.1))
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build([makes, judges])


@tf.function
def train_step(noise, images):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            made = tf.tanh(tf.matmul(noise, makes))
            loss = tf.reduce_mean(tf.nn.softplus(tf.matmul(made, judges) - tf.matmul(images, judges)))
        optimizer.apply_gradients(zip(tape.gradient(loss, [makes, judges]), [makes, judges]))


images = np.random.default_rng(0).random((320, PIXELS), dtype="float32")
for batch in tf.data.Dataset.from_tensor_slices(images).batch(BATCH):
    noise = tf.random.normal((BATCH, NOISE))  # expect: default-device
    train_step(noise, batch)
