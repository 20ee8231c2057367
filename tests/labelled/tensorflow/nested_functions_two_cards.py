"""Helpers that are tf.functions themselves, called from another one, each on its own card.

https://github.com/keras-team/keras/issues/14195 asks how to see whether two cards do what they were meant to.

An expert: the second helper works on what the first one made on the other card: asked for. But a function's
result is returned by an Identity that nobody placed: here it passes the host on its way from card to card, and
so does the outer function's. (This was labelled as an `explicit` hop at first; the partitions that TensorFlow
itself reports have it go over the host. Without the inner decorators it would not.)
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    w1 = tf.Variable(tf.random.normal((32, 64)))
    x = tf.random.normal((16, 32))
with tf.device("CPU:2"):
    w2 = tf.Variable(tf.random.normal((64, 10)))


@tf.function
def encode(x):
    with tf.device("CPU:1"):
        return tf.nn.relu(tf.matmul(x, w1))


@tf.function
def decode(hidden):
    with tf.device("CPU:2"):
        return tf.matmul(hidden, w2)  # may: explicit, bounce


@tf.function
def run(x):
    return decode(encode(x))  # expect: bounce


for _ in range(8):
    run(x)  # may: bounce, default-device
