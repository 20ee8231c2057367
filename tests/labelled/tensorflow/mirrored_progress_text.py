"""A custom loop under MirroredStrategy shows the reduced loss in a progress text after each step.

https://github.com/tensorflow/tensorflow/issues/36530: such a loop is much slower than Keras' own.

An expert: the sum lies on the host, but it is made of what both cards send, so formatting it waits for them.
"""

import sys

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
strategy = tf.distribute.MirroredStrategy(["CPU:1", "CPU:2"])


class Progress:
    def __init__(self, total):
        self.total, self.done = total, 0

    def update(self, **shown):
        self.done += 1
        text = ", ".join(f"{name}={value:.4f}" for name, value in shown.items())  # expect: host-sync
        sys.stderr.write(f"\r{self.done}/{self.total} {text}")


with strategy.scope():
    weights = tf.Variable(tf.ones((8, 1)))
    optimizer = tf.keras.optimizers.SGD(0.05)
    optimizer.build([weights])
data = tf.data.Dataset.from_tensor_slices(tf.random.normal((320, 8))).batch(32).prefetch(2)


def of_one_card(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ weights - 1.0))
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss


@tf.function
def step(x):
    return strategy.run(of_one_card, args=(x,))


progress = Progress(10)
for batch in strategy.experimental_distribute_dataset(data):
    progress.update(loss=strategy.reduce("SUM", step(batch), axis=None))
