"""A training step in one tf.function: six layers over three stand-ins, with hops forward and backward."""

# mypy: allow-untyped-decorators

import os
from typing import Any

import stopwatch

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import tensorflow as tf

BATCH, WIDTH = 64, 256
DEVICES = ["cpu:1", "cpu:1", "cpu:2", "cpu:2", "cpu:3", "cpu:3"]

host = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(host, [tf.config.LogicalDeviceConfiguration()] * 4)
tf.random.set_seed(0)

kernels = []
for device in DEVICES:
    with tf.device(device):
        kernels.append(tf.Variable(tf.random.normal([WIDTH, WIDTH], stddev=(2 / WIDTH) ** 0.5)))
with tf.device("cpu:0"):
    images = tf.random.normal([BATCH, WIDTH])


@tf.function
def train_step(x: Any) -> Any:
    """One step; the gradients are left to the default device, as most programs leave them."""
    with tf.GradientTape() as tape:
        for device, kernel in zip(DEVICES, kernels, strict=True):
            with tf.device(device):
                x = tf.nn.relu(tf.matmul(x, kernel))
        with tf.device(DEVICES[-1]):
            loss = tf.reduce_mean(x * x)
    for kernel, gradient in zip(kernels, tape.gradient(loss, kernels), strict=True):
        kernel.assign_sub(0.01 * gradient)
    return loss


stopwatch.run(lambda: train_step(images))
