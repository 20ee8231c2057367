"""Running statistics of an object, read eagerly at two lines on the card, of variables that were made before the scope.

https://github.com/StepNeverStop/RLs/pull/15 is about such normalisation between host and card.

An expert: one mistake, the object is made outside of the scope, so mean and count lie on the default device. To be
told where most is read, with the lines that created the variables.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


class Stats:
    def __init__(self, size):
        self.mean = tf.Variable(tf.zeros([size]))
        self.count = tf.Variable(0.0)

    def update(self, batch):
        self.count.assign_add(1.0)
        self.mean.assign_add((tf.reduce_mean(batch, 0) - self.mean) / self.count)  # expect: variable-home

    def normalize(self, batch):
        return batch - self.mean


stats = Stats(256)
with tf.device("/CPU:1"):
    for step in range(20):
        batch = tf.random.normal([64, 256])
        stats.update(batch)
        out = stats.normalize(batch)
