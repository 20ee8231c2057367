"""The loss is printed by the graph itself.

https://thecodeforge.io/ml-ai/tensorflow-basics/: use tf.print, "which executes inside the TF graph without a
CPU sync barrier".

An expert: Python waits for nothing here.
"""

import sys

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))
    x, y = tf.random.normal((64, 32)), tf.random.normal((64, 1))


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        tf.print("loss", loss, output_stream=sys.stdout)
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)


for _ in range(8):
    train_step(x, y)
