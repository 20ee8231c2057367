"""Mean and variance of a batch that lies on two cards, for a batch normalisation over both.

https://github.com/tensorflow/tensorflow/issues/16328: "trying to compute global mean and global variance for
batch normalization layer across GPUs".

An expert: each card sends its moments to the first one and gets the result back, as the code says. No fault.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

DEVICES = ["CPU:1", "CPU:2"]


def moments(parts):
    means, squares = [], []
    for device, part in zip(DEVICES, parts):
        with tf.device(device):
            means.append(tf.reduce_mean(part, axis=0))
            squares.append(tf.reduce_mean(tf.square(part), axis=0))
    with tf.device(DEVICES[0]):
        mean = tf.add_n(means) / len(means)  # expect: info explicit
        variance = tf.add_n(squares) / len(squares) - tf.square(mean)  # expect: info explicit
    return mean, variance


@tf.function
def normalize(parts):
    mean, variance = moments(parts)
    total = 0.0
    for device, part in zip(DEVICES, parts):
        with tf.device(device):
            total += tf.reduce_sum(tf.square((part - mean) * tf.math.rsqrt(variance + 1e-3)))  # may: explicit
    return total


parts = []
for device in DEVICES:
    with tf.device(device):
        parts.append(tf.random.normal((16, 128)))
for _ in range(12):
    normalize(parts)
