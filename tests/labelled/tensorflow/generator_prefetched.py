"""A Python generator feeds the card through tf.data, which copies ahead.

https://github.com/tensorflow/tensorflow/issues/43905 asks how; https://github.com/tensorflow/tensorflow/issues/20628
how many to keep ahead.

An expert: each batch has to go to the card, and does so before it is needed. No fault.
"""

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


def batches():
    rng = np.random.default_rng(0)
    for _ in range(8):
        yield rng.normal(size=(16, 32)).astype("float32"), rng.normal(size=(16, 1)).astype("float32")


signature = (tf.TensorSpec((16, 32), tf.float32), tf.TensorSpec((16, 1), tf.float32))
dataset = tf.data.Dataset.from_generator(batches, output_signature=signature)
dataset = dataset.apply(tf.data.experimental.prefetch_to_device("/device:CPU:1", buffer_size=2))
with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)


for x, y in dataset:
    train_step(x, y)
