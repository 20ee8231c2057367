"""Statements of several lines, with helpers and lambdas in them, that read variables of another device."""

import tensorflow as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:2"):
    a, b, c, d, e = (tf.Variable(tf.ones([8, 8]), name=name) for name in "abcde")
with tf.device("CPU:1"):
    x = tf.ones([8, 8])


def helper(x, function):
    return function(
        x,
    )


# fmt: off
@tf.function
def step(x, flag, other):
    with tf.device("CPU:1"):
        y = tf.add_n([
            tf.matmul(x, a),  # reads a
            x,
            tf.matmul(x, b),  # reads b
        ])
        z = helper(
            y,
            lambda t: tf.matmul(t, c),  # reads c
        )
        if flag:
            z = tf.nn.relu(
                z
                * d)
        z = tf.cond(
            other,
            lambda: z,
            lambda: tf.identity(e),  # reads e
        )
        return tf.reduce_sum(z)


for _ in range(3):
    step(x, True, tf.constant(False))
