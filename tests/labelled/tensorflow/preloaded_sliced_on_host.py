"""A data set is preloaded on the card, and its batches are cut out on the host.

https://github.com/tensorflow/tensorflow/issues/838: constants "were placed on GPU, but the slice op" ran on the
CPU, "hence the data transfers": 600 MB at every step.

An expert: all of the data set goes to the host in each call, for the slice that is pinned there; the batch comes
back. Keep the data where it is cut.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    images = tf.random.normal((2048, 64))
    w = tf.Variable(tf.random.normal((64, 10)))


@tf.function
def step(images, start):
    with tf.device("CPU:0"):
        batch = tf.slice(images, [start, 0], [32, 64])  # expect: redundant-copy; may: explicit
    with tf.device("CPU:1"):
        return tf.reduce_sum(tf.matmul(batch, w))  # expect: info explicit


for number in range(12):
    step(images, tf.constant(32 * number))
