"""Keras layers are created on a card, but called where no scope is open.

https://github.com/tensorflow/tensorflow/issues/53671: "the resources used by that layer are placed on the
requested device, but the TensorFlow ops involved in that layer do not execute on that device".

An expert: the calls stand outside of every scope, so their ops run on the default device, and the kernels
come there from the card in each step. The gradients and the update are but what follows from that.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    dense1 = tf.keras.layers.Dense(64, activation="relu")
    dense2 = tf.keras.layers.Dense(10)
    dense1.build((None, 32))
    dense2.build((None, 64))
variables = dense1.trainable_variables + dense2.trainable_variables


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        hidden = dense1(x)  # expect: default-device; may: variable-home
        logits = dense2(hidden)  # expect: default-device; may: variable-home
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    grads = tape.gradient(loss, variables)  # may: default-device, variable-home
    for variable, grad in zip(variables, grads):
        variable.assign_sub(0.1 * grad)  # may: default-device
    return loss


x = tf.random.normal((16, 32))
y = tf.random.uniform((16,), maxval=10, dtype=tf.int64)
for _ in range(8):
    train_step(x, y)
