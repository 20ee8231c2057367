"""Anchors of one card are laid out anew on the other one in each step, and go back to be used.

https://github.com/tensorflow/tensorflow/issues/58548: tf.identity in a scope is how a tensor is moved.

An expert: the values never change, so they need not leave their card. TensorFlow keeps the copy that went out
with the tensor, so that this is made once, but what goes back is a new tensor each time.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    anchors = tf.random.normal((64, 4, 16))
    boxes = tf.Variable(tf.zeros((256, 16)))
optimizer = tf.keras.optimizers.SGD(0.1)


def laid_out():
    with tf.device("CPU:2"):
        here = tf.identity(anchors)  # expect: bounce
        return tf.reshape(here, (256, 16))


for _ in range(12):
    with tf.device("CPU:1"), tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(boxes - tf.stop_gradient(laid_out())))
    with tf.device("CPU:1"):
        optimizer.apply_gradients([(tape.gradient(loss, boxes), boxes)])
