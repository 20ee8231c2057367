"""Eager towers in two threads; the main thread adds their gradients up on the host and hands the sums out.

https://github.com/tensorflow/models/issues/1264 averages gradients of towers under the CPU's scope.

An expert: the host adds up what the cards could: all gradients go to host memory and back in each step.
"""

from concurrent.futures import ThreadPoolExecutor

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
CARDS = ["CPU:1", "CPU:2"]


class Tower:
    def __init__(self, card):
        self.card = card
        with tf.device(card):
            self.kernel = tf.Variable(tf.random.stateless_normal((20, 8), (1, 2)))
            self.optimizer = tf.keras.optimizers.SGD(0.1)
            self.optimizer.build([self.kernel])

    def gradient(self, seed):
        with tf.device(self.card):
            x = tf.random.stateless_normal((8, 20), (seed, int(self.card[-1])))
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.matmul(x, self.kernel) - 1.0))
            return tape.gradient(loss, self.kernel)

    def apply(self, gradient):
        with tf.device(self.card):
            self.optimizer.apply_gradients([(gradient, self.kernel)])  # expect: info explicit


towers = [Tower(card) for card in CARDS]
with ThreadPoolExecutor(len(towers)) as pool:
    for number in range(10):
        gradients = list(pool.map(lambda tower: tower.gradient(number), towers))
        with tf.device("/CPU:0"):
            total = tf.add_n(gradients)  # expect: reduce-on-host
        for tower in towers:
            tower.apply(total)
