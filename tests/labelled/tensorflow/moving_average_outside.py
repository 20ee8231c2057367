"""A moving average of the weights is kept beside training, where no scope is open.

https://github.com/tensorflow/tensorflow/issues/29783: calling `ema.apply(trainable_vars)` for a large matrix
"is significantly slow".

An expert: neither the shadow nor its update were given a device: both are on the default one, and all
weights are read from the card for it in each step.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((256, 64)))
    x, y = tf.random.normal((16, 256)), tf.random.normal((16, 64))
shadow = tf.Variable(tf.zeros((256, 64)), trainable=False)


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)
    shadow.assign(0.999 * shadow + 0.001 * w)  # expect: default-device; may: variable-home


for _ in range(8):
    train_step(x, y)
