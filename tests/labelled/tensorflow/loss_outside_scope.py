"""The model runs on a card, its loss is computed after the `with` has ended.

https://github.com/tensorflow/tensorflow/issues/44510, "tf.device scope not working correctly": what stands
outside of the scope does not run there.

An expert: the line of the loss has no scope, so the logits go to the default device in each step.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((64, 1000)))
    x = tf.random.normal((128, 64))


def accuracy_of(logits):
    return tf.reduce_mean(tf.reduce_max(tf.nn.softmax(logits), axis=1))  # expect: default-device


@tf.function
def evaluate(x):
    with tf.device("CPU:1"):
        logits = tf.matmul(x, w)
    return accuracy_of(logits)


for _ in range(8):
    evaluate(x)
