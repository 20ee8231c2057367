"""A function with two device scopes is compiled as a whole.

https://github.com/tensorflow/tensorflow/issues/124880: an explicit tf.device placement "is silently ignored
under jit_compile=True".

An expert: the compiled cluster hides where its ops run, and the scopes in it mean nothing; the line to change
is the decorator's.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    x = tf.random.normal((16, 32))
    w = tf.random.normal((32, 8))


@tf.function(jit_compile=True)  # expect: xla-opaque
def forward(x, w):
    with tf.device("CPU:1"):
        hidden = tf.nn.relu(tf.matmul(x, w))
    with tf.device("CPU:2"):
        return tf.reduce_sum(hidden)


with tf.device("CPU:1"):
    for _ in range(8):
        forward(x, w)
