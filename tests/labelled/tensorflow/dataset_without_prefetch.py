"""A plain tf.data pipeline on the host feeds a model on a card.

https://github.com/tensorflow/tensorflow/issues/50825: "If model in the device(GPU) and dataset in the host(CPU),
the data output by dataset must be memcpyH2D".

An expert: the batch has to go there once a step; where that is a bottleneck, prefetch to the device. That is
advice, not a fault.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

data = tf.random.normal((128, 32)), tf.random.normal((128, 1))
dataset = tf.data.Dataset.from_tensor_slices(data).shuffle(128).batch(16)
with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)


for epoch in range(2):
    for x, y in dataset:
        train_step(x, y)
