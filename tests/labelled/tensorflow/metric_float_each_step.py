"""A progress line shows the running mean of a metric after each batch.

https://github.com/keras-team/keras/issues/16809: `update_state` is needed in each step, `result` is not, and
costs.

An expert: `float(..)` waits for the card in each step; show it every so many steps.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


class Mean:
    def __init__(self):
        self.total = tf.Variable(0.0)
        self.count = tf.Variable(0.0)

    def update_state(self, value):
        self.total.assign_add(value)
        self.count.assign_add(1.0)

    def result(self):
        return self.total / self.count


with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))
    x, y = tf.random.normal((64, 32)), tf.random.normal((64, 1))
    mean = Mean()


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)
        mean.update_state(loss)


for step in range(8):
    train_step(x, y)
    with tf.device("CPU:1"):
        shown = f"step {step}: {float(mean.result()):.3f}"  # expect: host-sync
    print(shown, end="\r")
