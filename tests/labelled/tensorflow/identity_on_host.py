"""What goes from one card to the other is laid down on the host between them.

https://github.com/tensorflow/tensorflow/issues/15351 asks what a tf.identity on the CPU does among towers;
https://github.com/tensorflow/tensorflow/issues/60883 has "unnecessary memcopies between CPU and GPU".

An expert: the activations go down to the host and up again in each step, for nothing but an identity and a
reshape there; without that line they would go from card to card.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    w1 = tf.Variable(tf.random.normal((32, 64)))
    x = tf.random.normal((16, 32))
with tf.device("CPU:2"):
    w2 = tf.Variable(tf.random.normal((64, 10)))

for _ in range(8):
    with tf.device("CPU:1"):
        hidden = tf.nn.relu(tf.matmul(x, w1))
    with tf.device("CPU:0"):
        staged = tf.identity(hidden)  # expect: bounce; may: explicit
    with tf.device("CPU:2"):
        logits = tf.matmul(staged, w2)  # may: explicit, bounce
