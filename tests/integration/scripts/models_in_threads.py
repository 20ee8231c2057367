"""Two models whose train steps have the same ops, each first called in a thread of its own, at once."""

import threading

import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
)
with tf.device("/CPU:0"):
    scale = tf.Variable(tf.ones([16, 64]))
together = threading.Barrier(2)


class Model(tf.Module):
    def __init__(self, card):
        self.card = card
        with tf.device(card):
            self.weights = tf.Variable(tf.random.normal([64, 64]))

    def train(self):
        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.matmul(tf.nn.relu(x * scale), self.weights) ** 2)
            self.weights.assign_sub(0.01 * tape.gradient(loss, self.weights))
            return loss

        with tf.device(self.card):
            together.wait()
            for _ in range(40):
                step(tf.random.normal([16, 64]))  # eager ops of both while the other's graph is made


threads = [threading.Thread(target=Model(card).train) for card in ("/CPU:1", "/CPU:2")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
