"""A script for two cards runs on a machine that lacks the second one.

https://github.com/tensorflow/tensorflow/issues/29342: with soft placement "I expected TF to fallback to using
the CPU" for a device that does not exist.

An expert: the second half runs on the host, because the card that it names is not there; what goes there and
comes back in each step is due to that.

The tool knew more than the label did: the function is called outside of every scope, so TensorFlow puts the
Identity that returns its result on the default device, and the result goes there and back.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
tf.config.set_soft_device_placement(True)

with tf.device("CPU:1"):
    x = tf.random.normal((16, 32))
    w1 = tf.Variable(tf.random.normal((32, 64)))
    w2 = tf.Variable(tf.random.normal((64, 64)))


@tf.function
def forward(x):
    with tf.device("CPU:1"):
        hidden = tf.nn.relu(tf.matmul(x, w1))
    with tf.device("GPU:1"):
        hidden = tf.nn.relu(hidden + 1.0)  # expect: missing-device
    with tf.device("CPU:1"):
        return tf.matmul(hidden, w2)  # may: missing-device


for _ in range(8):
    forward(x)  # may: bounce, default-device
