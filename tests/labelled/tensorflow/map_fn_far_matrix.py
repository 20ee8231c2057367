"""tf.map_fn applies a lambda to each row; the lambda's matrix is on the other card.

https://github.com/tensorflow/tensorflow/issues/9527 is about the speed of such loops.

An expert: the lambda's line reads the matrix away from where it lives, in each call.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    rows = tf.random.normal((6, 8, 64))
with tf.device("CPU:2"):
    matrix = tf.Variable(tf.random.normal((64, 64)))


@tf.function
def transform(rows):
    with tf.device("CPU:1"):
        mapped = tf.map_fn(lambda row: tf.matmul(row, matrix), rows)  # expect: variable-home
        return tf.reduce_sum(mapped)


for _ in range(12):
    transform(rows)
