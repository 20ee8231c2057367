"""Towers on two cards train apart for three steps, then all of them get the mean of their weights.

https://github.com/tensorflow/tensorflow/issues/10449 asks TensorFlow to average models so.

An expert: nothing: that they go apart in between is what local SGD saves communication by.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
CARDS = ["CPU:1", "CPU:2"]

towers = []
for card in CARDS:
    with tf.device(card):
        tf.keras.utils.set_random_seed(7)
        towers.append([tf.Variable(tf.random.normal((20, 6))), tf.Variable(tf.zeros((6,)))])
optimizers = [tf.keras.optimizers.SGD(0.05) for _ in CARDS]
for card, optimizer, tower in zip(CARDS, optimizers, towers):
    with tf.device(card):
        optimizer.build(tower)


@tf.function
def train(which):
    kernel, bias = towers[which]
    x = tf.random.normal((16, 20))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, kernel) + bias - 1.0))
    optimizers[which].apply_gradients(zip(tape.gradient(loss, [kernel, bias]), [kernel, bias]))


for step in range(1, 17):
    for which, card in enumerate(CARDS):
        with tf.device(card):
            train(which)
    if step % 3 == 0:
        for variables in zip(*towers):
            with tf.device(CARDS[0]):
                mean = tf.reduce_mean(tf.stack(variables), 0)  # may: variable-home, explicit
            for card, variable in zip(CARDS, variables):
                with tf.device(card):
                    variable.assign(mean)  # may: explicit
