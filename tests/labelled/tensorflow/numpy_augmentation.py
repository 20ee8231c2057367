"""The input pipeline augments with numpy, in a map of its own.

https://github.com/openxla/xprof/issues/8 has tf.numpy_function in a map, followed by a prefetch.

An expert: that runs on the host, ahead of the step, where the data is. No fault.
"""

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)


def flip(image):
    return np.ascontiguousarray(image[:, ::-1])


def augment(image):
    flipped = tf.numpy_function(flip, [image], tf.float32)
    flipped.set_shape((8, 8))
    return flipped


images = np.random.default_rng(0).normal(size=(96, 8, 8)).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices(images).map(augment, num_parallel_calls=2).batch(8).prefetch(2)
with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((64, 1)))


@tf.function
def train_step(x):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.reshape(x, (-1, 64)), w)))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)


for x in dataset:
    train_step(x)
