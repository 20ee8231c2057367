"""Training ends when the loss is NaN, which Python looks at in each step.

https://github.com/keras-team/keras/issues/4848 asks for it, at the end of each batch.

An expert: `if` takes a bool from the card in each step, so Python can never run ahead.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))
    x, y = tf.random.normal((64, 32)), tf.random.normal((64, 1))

with tf.device("CPU:1"):
    for _ in range(12):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        if tf.math.is_nan(loss):  # expect: host-sync
            break
        w.assign_sub(0.01 * tape.gradient(loss, w))
