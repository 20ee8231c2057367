"""Two networks on two cards learn from each other's card: each has a target there that follows it slowly.

https://github.com/jk96491/RL_Algorithms/issues/1 is about such copies to a target network.

An expert: both variables are read on the other card in each step, so a target belongs beside its network. That it
lags behind is its purpose.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)


class Network(tf.Module):
    def __init__(self, device, start):
        with tf.device(device):
            self.w = tf.Variable(start)


starts = [tf.random.normal((24, 4)).numpy() for _ in range(2)]
online = [Network(device, start) for device, start in zip(("CPU:1", "CPU:2"), starts)]
slow = [Network(device, start) for device, start in zip(("CPU:2", "CPU:1"), starts)]
lagging = [Network(device, start) for device, start in zip(("CPU:2", "CPU:1"), starts)]
averages = tf.train.ExponentialMovingAverage(0.9)


@tf.function
def train(network, target, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, network.w) - 0.9 * tf.matmul(x, target)))
    network.w.assign_sub(0.1 * tape.gradient(loss, network.w))


for step in range(12):
    for device, network, target in zip(("CPU:1", "CPU:2"), online, slow):
        with tf.device(device):
            wanted = tf.identity(target.w)  # expect: variable-home
            train(network, wanted, tf.random.normal((8, 24)))
    for device, network, target, copy in zip(("CPU:2", "CPU:1"), online, slow, lagging):
        with tf.device(device):
            now = tf.identity(network.w)  # expect: variable-home
            target.w.assign_sub(0.05 * (target.w - now))
            if step % 4 == 3:
                copy.w.assign(now)
