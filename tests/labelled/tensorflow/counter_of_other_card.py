"""A counter of one card is advanced within the scope of another.

https://github.com/tensorflow/tensorflow/issues/16793: ops were colocated with a variable of another device
than the one their author had in mind.

An expert: an assignment runs where its variable is, whatever scope it stands in; the value goes there.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    seen = tf.Variable(tf.zeros((64,)))
with tf.device("CPU:2"):
    x = tf.random.normal((16, 64))


@tf.function
def count(x):
    with tf.device("CPU:2"):
        seen.assign_add(tf.reduce_sum(tf.abs(x), axis=0))  # expect: info colocation


for _ in range(8):
    count(x)
