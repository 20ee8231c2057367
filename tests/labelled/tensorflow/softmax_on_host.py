"""One layer in the middle is pinned to the host, because an old answer said so.

https://newbe.dev/how-to-run-two-models-in-parallel-on-two-different-gpus-in-keras: "the softmax activation
function runs on the CPU only as of now. It is necessary to direct the cpu to perform the dense layer".

An expert: the code itself asks for the host and for the card again; each step pays two copies of what it
computes there. That is told, with the lines, but it is what was asked for.

The tool knew more than the label did: the function is called outside of every scope, so TensorFlow puts the
Identity that returns its result on the default device, and the result goes there and back.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    w1 = tf.Variable(tf.random.normal((32, 64)))
    w2 = tf.Variable(tf.random.normal((64, 10)))
    x = tf.random.normal((16, 32))


@tf.function
def attend(x):
    with tf.device("CPU:1"):
        scores = tf.matmul(x, w1)
    with tf.device("CPU:0"):
        weights = tf.nn.softmax(scores)  # expect: info explicit
    with tf.device("CPU:1"):
        return tf.matmul(weights, w2)  # expect: info explicit


for _ in range(8):
    attend(x)  # may: bounce, default-device
