"""A training step of small eager ops under a GradientTape, without tf.function, on one stand-in."""

import os

import stopwatch

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import tensorflow as tf

BATCH, WIDTH, LAYERS = 16, 32, 1

host = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(host, [tf.config.LogicalDeviceConfiguration()] * 2)
tf.random.set_seed(0)

with tf.device("cpu:1"):
    kernels = [tf.Variable(tf.random.normal([WIDTH, WIDTH], stddev=0.1)) for _ in range(LAYERS)]
    biases = [tf.Variable(tf.zeros([WIDTH])) for _ in range(LAYERS)]
    images = tf.random.normal([BATCH, WIDTH])
variables = kernels + biases


def train_step() -> None:
    """One step, op by op."""
    with tf.device("cpu:1"):
        with tf.GradientTape() as tape:
            x = images
            for kernel, bias in zip(kernels, biases, strict=True):
                x = tf.nn.relu(tf.matmul(x, kernel) + bias)
            loss = tf.reduce_mean(x * x)
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.01 * gradient)


stopwatch.run(train_step)
