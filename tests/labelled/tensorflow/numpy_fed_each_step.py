"""Numpy batches are fed straight into the training step.

https://github.com/tensorflow/tensorflow/issues/15288: "the inputs are numpy arrays (which are necessarily in
host memory) and so in each call .. you're including the cost of (synchronously and serially) copying".

An expert: each batch goes up at the lines that hand numpy to TensorFlow; prefetching hides it.
"""

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

rng = np.random.default_rng(0)
features = rng.normal(size=(8, 64, 32)).astype("float32")
targets = rng.normal(size=(8, 64, 1)).astype("float32")
with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))


def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            predicted = tf.matmul(x, w)  # expect: info host-upload
            loss = tf.reduce_mean(tf.square(predicted - y))  # expect: info host-upload
        w.assign_sub(0.01 * tape.gradient(loss, w))


for batch in range(8):
    train_step(features[batch], targets[batch])
