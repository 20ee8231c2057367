"""One traced function trains a tower on each of two cards; it adds up their losses, not their gradients.

https://github.com/ildoonet/tf-pose-estimation/issues/16 finds "no average operation in your code".

An expert: each tower applies its own gradients, so that from the first step on there are two models.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
CARDS = ["CPU:1", "CPU:2"]


class Tower(tf.Module):
    def __init__(self, device):
        with tf.device(device):
            self.kernel = tf.Variable(tf.random.stateless_normal((40, 8), [3, 5]), name="kernel")
            self.bias = tf.Variable(tf.zeros((8,)), name="bias")
            self.moment = tf.Variable(tf.zeros((40, 8)), trainable=False, name="moment")
        self.device = device

    def train(self, seed):
        with tf.device(self.device):
            x = tf.random.stateless_normal((16, 40), seed)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(x, self.kernel) + self.bias) - 1.0))
            to_kernel, to_bias = tape.gradient(loss, [self.kernel, self.bias])
            self.moment.assign(0.9 * self.moment + to_kernel)
            for variable, change in ((self.kernel, self.moment), (self.bias, to_bias)):
                variable.assign(variable - 0.05 * change)  # expect: replica-drift
            return loss


towers = [Tower(device) for device in CARDS]


@tf.function
def step(number):
    losses = [tower.train(tf.stack([number, card])) for card, tower in enumerate(towers)]
    with tf.device("CPU:1"):
        return tf.add_n(losses)


for number in tf.range(10):
    loss = step(number)
print(float(loss))
