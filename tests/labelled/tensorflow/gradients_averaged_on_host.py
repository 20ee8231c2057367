"""Towers on two cards; their gradients are averaged under the host's scope, like the CIFAR-10 tutorial's.

https://github.com/tensorflow/tensorflow/issues/4881: "putting ops outside of towerloss to cpu actually hurt
performance".

An expert: in each step every gradient goes to host memory, to be added up there, and the mean goes back to each card.
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


def tower_gradients(kernel, bias):
    x = tf.random.normal((16, 30))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, kernel) + bias))
    return tape.gradient(loss, [kernel, bias])


def average_gradients(tower_grads):
    average = []
    for grads in zip(*tower_grads):
        grad = tf.concat([tf.expand_dims(g, 0) for g in grads], 0)  # expect: reduce-on-host
        average.append(tf.reduce_mean(grad, 0))
    return average


@tf.function
def step():
    tower_grads = []
    for card, tower in zip(CARDS, towers):
        with tf.device(card):
            tower_grads.append(tower_gradients(*tower))
    with tf.device("/CPU:0"):
        mean = average_gradients(tower_grads)
    for card, tower in zip(CARDS, towers):
        with tf.device(card):
            for variable, grad in zip(tower, mean):
                variable.assign_sub(0.1 * grad)  # expect: info explicit


for _ in range(8):
    step()
