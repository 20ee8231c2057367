"""One line that is run in a card's scope, and in one of a card that does not exist."""

import tensorflow as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 2)


def branch(x, w, device):
    with tf.device(device):
        return tf.matmul(x, w)


with tf.device("CPU:1"):
    x = tf.random.normal([64, 64])
    weights = [tf.Variable(tf.random.normal([64, 64])) for _ in range(2)]
for _ in range(12):
    with tf.device("CPU:1"):
        parts = [branch(x, w, to) for w, to in zip(weights, ("CPU:1", "/device:GPU:0"), strict=True)]
        joined = tf.concat(parts, axis=1)
