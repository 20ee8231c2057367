"""The gradients of a model on one card, taken inside its scope.

https://github.com/tensorflow/tensorflow/issues/33688, with the workaround told there: the
backward pass is made under the device of its forward pass.

An expert: nothing crosses in the loop; all of it is on one device.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((64, 10)))
    x = tf.random.normal((32, 64))
    y = tf.random.uniform((32,), maxval=10, dtype=tf.int64)


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            logits = tf.matmul(x, w)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)
    return loss


for _ in range(8):
    train_step(x, y)
