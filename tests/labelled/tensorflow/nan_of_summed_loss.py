"""Two towers' losses are added on the host inside one function; the loop asks whether the sum is a number.

https://github.com/tensorflow/tensorflow/issues/36224: the loss of several cards is not a number at some step.

An expert: the sum and the question are the host's, yet the answer waits for both cards in each step.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

towers = []
for number in (1, 2):
    with tf.device(f"CPU:{number}"):
        towers.append(tf.Variable(tf.ones((8, 1))))


@tf.function
def step(batches):
    losses = []
    for number, (weights, batch) in enumerate(zip(towers, batches), 1):
        with tf.device(f"CPU:{number}"):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(batch @ weights - 1.0))
            weights.assign_sub(0.01 * tape.gradient(loss, weights))
            losses.append(loss)
    with tf.device("CPU:0"):
        return tf.add_n(losses) / 2  # expect: info explicit


for _ in range(12):
    batches = []
    for number in (1, 2):
        with tf.device(f"CPU:{number}"):
            batches.append(tf.random.normal((16, 8)))
    if tf.math.is_nan(step(batches)):  # expect: host-sync
        raise ArithmeticError("The loss is not a number")
