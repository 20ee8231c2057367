"""A table of one card is copied to the other by tf.identity in each step, in eager code.

https://github.com/tensorflow/tensorflow/issues/14133: "Explicitly copy the tensor yourself using tf.identity".

An expert: it looks like a copy in each step, but TensorFlow keeps the copy of an eager tensor with the tensor:
there is one, and the code asked for it. (This was labelled as a redundant copy at first; the count says one.)
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    table = tf.random.normal((512, 64))
with tf.device("CPU:2"):
    x = tf.random.normal((16, 64))

for _ in range(8):
    with tf.device("CPU:2"):
        here = tf.identity(table)  # expect: info explicit
        scores = tf.matmul(x, here, transpose_b=True)
