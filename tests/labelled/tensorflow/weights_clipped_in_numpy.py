"""Weights are fetched after each step, clipped in place by numpy and put back.

https://github.com/tensorflow/tensorflow/issues/21679

An expert: the fetch waits for the device in every step, and the weights go to the host and back for what
tf.clip_by_value would do where they are. They come back changed, so the way over the host was for something:
it is the fetch that has to go, not a copy to be kept.
"""

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


class Dense(tf.Module):
    def __init__(self, inputs, units):
        super().__init__()
        self.kernel = tf.Variable(tf.random.normal((inputs, units)) * 0.1)
        self.bias = tf.Variable(tf.zeros(units))

    def __call__(self, x):
        return x @ self.kernel + self.bias

    def limit(self, least, most):
        weights = self.kernel.numpy()  # expect: host-sync
        np.clip(weights, least, most, out=weights)
        self.kernel.assign(weights)  # may: host-upload


with tf.device("CPU:1"):
    logits = Dense(24, 8)
    x, y = tf.random.normal((64, 24)), tf.random.normal((64, 8))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((logits(x) - y) ** 2)
        for variable, gradient in zip(
            logits.trainable_variables, tape.gradient(loss, logits.trainable_variables)
        ):
            variable.assign_sub(0.1 * gradient)

    for _ in range(10):
        train_step()
        logits.limit(0.01, 0.1)
