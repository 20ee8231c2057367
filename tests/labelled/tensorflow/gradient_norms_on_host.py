"""Towers on two cards: the host gets each tower's loss and the norms of its gradients, every tenth step.

https://github.com/keras-team/keras/issues/8767 prints such losses of towers while they train.

An expert: nothing: a number now and then; the gradients themselves are averaged on a card.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
CARDS = ["CPU:1", "CPU:2"]

start = tf.random.normal((30, 12)).numpy()
towers = []
for card in CARDS:
    with tf.device(card):
        towers.append(tf.Variable(start))


@tf.function
def tower_step(tower, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, tower)))
    gradient = tape.gradient(loss, tower)
    return gradient, tf.stack([loss, tf.norm(gradient)])


for step in range(1, 21):
    gradients, numbers = [], []
    for card, tower in zip(CARDS, towers):
        with tf.device(card):
            gradient, told = tower_step(tower, tf.random.normal((16, 30)))
        gradients.append(gradient)
        numbers.append(told)
    with tf.device(CARDS[0]):
        mean = tf.add_n(gradients) / 2.0  # may: explicit
    for card, tower in zip(CARDS, towers):
        with tf.device(card):
            tower.assign_sub(0.1 * mean)  # expect: info explicit
    if step % 10 == 0:
        with tf.device("CPU:0"):
            sums = tf.add_n(numbers)  # may: explicit
        print(step, sums.numpy())
