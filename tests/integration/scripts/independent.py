"""A training step over three devices; prints its losses exactly."""

import tensorflow as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 4)
tf.random.set_seed(7)

with tf.device("CPU:1"):
    w1 = tf.Variable(tf.random.stateless_normal([20, 30], [1, 2]), name="w1")
with tf.device("CPU:2"):
    w2 = tf.Variable(tf.random.stateless_normal([30, 5], [3, 4]), name="w2")


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        with tf.device("CPU:1"):
            h = tf.nn.relu(tf.matmul(x, w1))
        with tf.device("CPU:2"):
            loss = tf.reduce_mean(tf.square(tf.matmul(h, w2)))
    g1, g2 = tape.gradient(loss, [w1, w2])
    with tf.device("CPU:1"):
        w1.assign_sub(0.01 * g1)
    with tf.device("CPU:3"):
        g2 = g2 * 0.01
    w2.assign_sub(g2)
    return loss


for n in range(6):
    print(float(step(tf.random.stateless_normal([16, 20], [n, 0]))).hex())
