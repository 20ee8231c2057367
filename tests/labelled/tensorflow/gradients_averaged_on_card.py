"""Towers on two cards; the first card averages their gradients, and each tower applies the mean.

https://github.com/keras-team/keras/issues/8767 averages gradients of towers like this.

An expert: the copies between the cards are meant, and the towers stay equal.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
CARDS = ["CPU:1", "CPU:2"]

start = tf.random.normal((30, 12)).numpy()
towers = []
for card in CARDS:
    with tf.device(card):
        towers.append([tf.Variable(start), tf.Variable(tf.zeros((12,)))])


def gradients(kernel, bias):
    x = tf.random.normal((16, 30))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, kernel) + bias))
    return tape.gradient(loss, [kernel, bias])


@tf.function
def step():
    each = []
    for card, tower in zip(CARDS, towers):
        with tf.device(card):
            each.append(gradients(*tower))
    with tf.device(CARDS[0]):
        means = [tf.add_n(group) / len(CARDS) for group in zip(*each)]  # expect: info explicit
    for card, tower in zip(CARDS, towers):
        with tf.device(card):
            for variable, mean in zip(tower, means):
                variable.assign_sub(0.1 * mean)  # expect: info explicit


for _ in range(8):
    step()
