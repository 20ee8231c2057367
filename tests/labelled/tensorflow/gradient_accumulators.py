"""Gradients are accumulated over four batches in variables made where no scope is open.

https://github.com/tensorflow/tensorflow/issues/50454 has such a patch around an optimizer.

An expert: the accumulators live on the default device, so each gradient is sent there, however the step's
scope reads; every fourth step they are read back from there.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


class Accumulator:
    def __init__(self, variables, every):
        self.sums = [tf.Variable(tf.zeros_like(variable), trainable=False) for variable in variables]
        self.variables = variables
        self.every = every

    def add(self, grads):
        for total, grad in zip(self.sums, grads):
            total.assign_add(grad)  # expect: info colocation

    def apply(self, rate):
        for variable, total in zip(self.variables, self.sums):
            variable.assign_sub(rate * total / self.every)  # expect: info variable-home
            total.assign(tf.zeros_like(total))  # may: colocation


with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((128, 64)))
    x, y = tf.random.normal((16, 128)), tf.random.normal((16, 64))
accumulator = Accumulator([w], every=4)


@tf.function
def add_batch(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        accumulator.add(tape.gradient(loss, [w]))


@tf.function
def apply():
    with tf.device("CPU:1"):
        accumulator.apply(0.01)


for batch in range(1, 13):
    add_batch(x, y)
    if batch % accumulator.every == 0:
        apply()
