"""Python asks a tensor on the card for its shape in each step.

https://github.com/tensorflow/tensorflow/issues/26340: "A Shape op does not need to look at any of the values in a
tensor. The metadata lives in the hosts memory"; the result "always live[s] in host memory, even on the GPU device".

An expert: no fault. Nothing is waited for: TensorFlow knows the shape without the card.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))
    batches = [tf.random.normal((size, 32)) for size in (16, 16, 8) * 4]


@tf.function(reduce_retracing=True)
def total_loss(x):
    with tf.device("CPU:1"):
        return tf.reduce_sum(tf.square(tf.matmul(x, w)))


seen = 0
with tf.device("CPU:1"):
    for x in batches:
        total_loss(x)
        seen += int(tf.shape(x)[0])
print(seen)
