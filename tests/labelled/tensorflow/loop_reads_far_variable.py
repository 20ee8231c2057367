"""A recurrent cell, unrolled by AutoGraph in a loop, uses a matrix of another card.

https://github.com/tensorflow/tensorflow/issues/9892 is such a loop, "incredibly slow".

An expert: the loop runs on one card, its matrix lives on the other, and is read from there in each call.

The tool knew more than the label did: the function is called outside of every scope, so TensorFlow puts the
Identity that returns its result on the default device, and the result goes there and back.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    wx = tf.Variable(tf.random.normal((32, 64)))
    inputs = tf.random.normal((10, 16, 32))
with tf.device("CPU:2"):
    wh = tf.Variable(0.1 * tf.random.normal((64, 64)))


@tf.function
def unrolled(inputs):
    with tf.device("CPU:1"):
        hidden = tf.zeros((16, 64))
        for t in tf.range(10):
            hidden = tf.tanh(tf.matmul(inputs[t], wx) + tf.matmul(hidden, wh))  # expect: variable-home
        return hidden


for _ in range(8):
    unrolled(inputs)  # may: bounce, default-device
