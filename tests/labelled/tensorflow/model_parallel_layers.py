"""Two Keras layers on two cards, each made and called in its own scope, gradients too.

https://github.com/tensorflow/tensorflow/issues/44510: a layer that wraps `__init__` and `call` in the scope of
its card, as a comment there proposes.

An expert: the activations go from the first card to the second, and their gradients back, because the model
is laid out so. No fault.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)


class DenseOn(tf.keras.layers.Layer):
    def __init__(self, device, inputs, units, activation=None):
        super().__init__()
        self.device = device
        with tf.device(device):
            self.dense = tf.keras.layers.Dense(units, activation=activation)
            self.dense.build((None, inputs))

    def call(self, inputs):
        with tf.device(self.device):
            return self.dense(inputs)  # expect: info explicit


first, second = DenseOn("CPU:1", 32, 64, "relu"), DenseOn("CPU:2", 64, 1)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as lower:
        hidden = first(x)
    with tf.GradientTape() as upper:
        upper.watch(hidden)
        with tf.device("CPU:2"):
            loss = tf.reduce_mean(tf.square(second(hidden) - y))
    with tf.device("CPU:2"):
        to_hidden, *of_second = upper.gradient(loss, [hidden, *second.trainable_variables])
        for variable, grad in zip(second.trainable_variables, of_second):
            variable.assign_sub(0.01 * grad)
    with tf.device("CPU:1"):
        of_first = lower.gradient(hidden, first.trainable_variables, output_gradients=to_hidden)
        for variable, grad in zip(first.trainable_variables, of_first):
            variable.assign_sub(0.01 * grad)


with tf.device("CPU:1"):
    x = tf.random.normal((16, 32))
with tf.device("CPU:2"):
    y = tf.random.normal((16, 1))
for _ in range(8):
    train_step(x, y)
