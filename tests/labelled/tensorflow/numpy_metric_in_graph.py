"""A training step computes a metric with numpy, through tf.py_function.

https://github.com/tensorflow/tensorflow/issues/43925 is about the copies at such a function's border.

An expert: the graph stops in each step until Python has taken the predictions, at the `.numpy()` line.
"""

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


def rank_error(predicted, wanted):
    order = np.argsort(predicted.numpy())  # expect: host-sync
    return np.float32(np.abs(order - np.argsort(wanted.numpy())).mean())  # expect: host-sync


with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))
    x, y = tf.random.normal((64, 32)), tf.random.normal((64, 1))


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            predicted = tf.matmul(x, w)
            loss = tf.reduce_mean(tf.square(predicted - y))
        error = tf.py_function(rank_error, [predicted[:, 0], y[:, 0]], tf.float32)
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)
    return error


for _ in range(8):
    train_step(x, y)
