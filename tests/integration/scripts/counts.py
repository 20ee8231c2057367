"""Hops through loops, branches, retraces and nested functions; each line that hops is named below."""

import tensorflow as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 4)


@tf.function
def inner(x):
    with tf.device("CPU:2"):
        return tf.sin(x)  # line 12


@tf.function
def outer(x):
    with tf.device("CPU:1"):
        y = x * 2.0  # line 18
    y = inner(y)
    y = inner(y + 1.0)  # line 20
    with tf.device("CPU:3"):
        return tf.reduce_sum(y)  # line 22


@tf.function
def nested(x):
    for _ in tf.range(2):
        for j in tf.range(3):
            with tf.device("CPU:1"):
                x = tf.cos(x)  # line 30
            with tf.device("CPU:2"):
                x = x + 1.0  # line 32
            if j > 0:
                with tf.device("CPU:3"):
                    x = x * 3.0  # line 35
    return x


@tf.function
def loop(x, n):
    for _ in tf.range(n):
        with tf.device("CPU:1"):
            x = tf.tanh(x)  # line 43
        with tf.device("CPU:2"):
            x = x - 1.0  # line 45
    return x


@tf.function
def branch(x):
    if tf.reduce_sum(x) > 0:
        with tf.device("CPU:3"):
            x = tf.exp(x)  # line 53
    return x


for rows in (8, 16, 8):
    outer(tf.ones([rows, 4]))
for _ in range(2):
    nested(tf.ones([4, 4]))
for trips in (3, 0, 5):
    loop(tf.ones([4, 4]), tf.constant(trips))
for sign in (1.0, -1.0, 1.0, 1.0):
    branch(sign * tf.ones([4, 4]))
