"""Two threads train a model each, on a card each, and take their loss in each step.

https://github.com/openai/universe-starter-agent/issues/67 has such workers, A3C's.

An expert: both threads stand still at the line that takes the loss, once a step.
"""

import threading

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)


class Worker(threading.Thread):
    def __init__(self, device):
        super().__init__()
        self.device = device
        self.losses = []
        with tf.device(device):
            self.w = tf.Variable(tf.random.normal((32, 1)))
            self.x = tf.random.normal((64, 32))
            self.y = tf.random.normal((64, 1))

    def run(self):
        for _ in range(12):
            with tf.device(self.device):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(tf.matmul(self.x, self.w) - self.y))
                self.w.assign_sub(0.01 * tape.gradient(loss, self.w))
            self.losses.append(loss.numpy())  # expect: host-sync


workers = [Worker("CPU:1"), Worker("CPU:2")]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
