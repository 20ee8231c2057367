import sys

import tensorflow as tf

host = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(host, [tf.config.LogicalDeviceConfiguration()] * 2)
weights, optimizer, x = tf.Variable(tf.ones([4])), tf.keras.optimizers.SGD(1e-3), tf.ones([4])
with tf.device("cpu:1"):
    other = tf.Variable(tf.ones([8]))


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weights * x)
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss


for number in range(2000):
    loss = step()
    if number % int(sys.argv[1]) == 0:
        loss.numpy()
        other + 1.0
