"""Each tower's gradients come out of a traced function; the loop adds them up on the host and applies the mean.

https://github.com/tensorflow/models/issues/1264 is about a multi-GPU CIFAR-10 that leaves the GPUs idle.

An expert: the gradients of both cards go to host memory in each step, and their mean back to both.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
CARDS = ["CPU:1", "CPU:2"]

start = tf.random.stateless_normal((30, 12), (1, 2))
towers = []
for card in CARDS:
    with tf.device(card):
        towers.append(tf.Variable(start))


@tf.function
def tower_gradient(tower, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, tower)))
    return loss, tape.gradient(loss, tower)


for step in range(10):
    gradients, losses = [], []
    for card, tower in zip(CARDS, towers):
        with tf.device(card):
            loss, gradient = tower_gradient(tower, tf.random.normal((16, 30)))
        losses.append(loss)
        gradients.append(gradient)
    with tf.device("CPU:0"):
        mean = tf.add_n(gradients) / len(gradients)  # expect: reduce-on-host
    for card, tower in zip(CARDS, towers):
        with tf.device(card):
            tower.assign_sub(0.1 * mean)  # expect: info explicit
