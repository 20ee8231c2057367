"""A replay buffer's priorities live on the host, and the train step on the card draws rows by all of them.

Like https://github.com/tensorflow/agents/issues/595: "a lot of memory copy between CPU and GPU" with the tables of
a replay buffer in host memory.

An expert: all priorities, 128 KiB, go to the card in each step for the sake of 64 rows. Put them there: the new
ones are made there too, and to write a few rows (scatter_nd_update) works on the card.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
CARD, ROWS, BATCH = "CPU:1", 32768, 64

with tf.device("CPU:0"):
    priorities = tf.Variable(tf.ones([ROWS]), trainable=False)
with tf.device(CARD):
    states = tf.Variable(tf.random.normal([ROWS, 16]), trainable=False)
    weights = tf.Variable(tf.random.normal([16, 1], stddev=0.1))
    optimizer = tf.keras.optimizers.SGD(0.01)


def drawn():
    chances = tf.math.log(priorities)  # expect: variable-home
    noise = -tf.math.log(-tf.math.log(tf.random.uniform([ROWS], 1e-6, 1.0)))
    return tf.math.top_k(chances + noise, BATCH).indices


@tf.function
def train_step():
    with tf.device(CARD):
        rows = drawn()
        batch = tf.gather(states, rows)
        with tf.GradientTape() as tape:
            errors = tf.squeeze(tf.matmul(batch, weights), 1) - tf.reduce_sum(batch, 1)
            loss = tf.reduce_mean(tf.square(errors))
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
        priorities.scatter_nd_update(rows[:, None], tf.abs(errors) + 1e-3)  # may: colocation, variable-home
    return loss


for _ in range(12):
    with tf.device(CARD):
        loss = train_step()
print(float(loss))  # may: host-sync
