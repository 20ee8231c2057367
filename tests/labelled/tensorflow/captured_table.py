"""A table that never changes was made on one card, and a function that runs on the other one captures it.

https://github.com/allenai/bilm-tf/pull/41: a tensor made in the wrong place is transferred "for every batch",
"slowing down the code by 5x or so".

An expert: the same tensor is sent to the second card in each call; copy it there once, before the loop.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    table = tf.random.normal((512, 64))
with tf.device("CPU:2"):
    x = tf.random.normal((16, 64))


@tf.function
def best(x):
    with tf.device("CPU:2"):
        scores = tf.matmul(x, table, transpose_b=True)  # expect: redundant-copy; may: explicit
        return tf.reduce_sum(tf.reduce_max(scores, axis=1))


for _ in range(8):
    best(x)
