"""A hand-written optimizer makes its momenta in a loop outside the scope, and reads them at two lines.

https://github.com/titu1994/keras-adabound/issues/6

An expert: one mistake, where they are made; both lines read the same variables.
"""

import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
)

with tf.device("CPU:1"):
    weights = [tf.Variable(tf.random.normal(shape, stddev=0.1)) for shape in [(64, 128), (128, 8)]]
    rate = tf.Variable(0.01)

momenta = []
for weight in weights:
    momenta.append(tf.Variable(tf.zeros_like(weight), trainable=False))  # may: host-sync, default-device


@tf.function
def train_step(x):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(x, weights[0])), weights[1])))
        gradients = tape.gradient(loss, weights)
        for gradient, weight, momentum in zip(gradients, weights, momenta):
            weight.assign_sub(rate * (0.9 * momentum + gradient))  # expect: variable-home
            momentum.assign(0.9 * momentum + gradient)


for _ in range(15):
    with tf.device("CPU:1"):
        x = tf.random.normal((32, 64))
    train_step(x)
