"""A model is made on a card, its Adam optimizer where no scope is open.

https://github.com/tensorflow/tensorflow/issues/31291: the optimizer's momentum stands on another device than
what it updates; "when I assign a device like below, everything worked as expected".

An expert: Adam's moments would live on the default device, were it not that Keras 3 puts each beside its
variable. What is left there are the step counter and the rate: a few bytes, read in each step. No fault.
(The moments were labelled at first, from Keras 2; the recorded ops have them on the card.)
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((128, 64)))
    b = tf.Variable(tf.zeros((64,)))
    x, y = tf.random.normal((16, 128)), tf.random.normal((16, 64))
optimizer = tf.keras.optimizers.Adam(0.001)
optimizer.build([w, b])


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        grads = tape.gradient(loss, [w, b])
        optimizer.apply_gradients(zip(grads, [w, b]))  # expect: info variable-home
    return loss


for _ in range(8):
    train_step(x, y)
