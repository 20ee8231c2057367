"""A thread a card trains its copy of a Keras model, each with an optimizer of its own; nobody averages.

https://github.com/kuza55/keras-extras/issues/25 asks whether "each GPU will update its model weights in a
different way"; here it does.

An expert: the copies are given the same weights and then go apart: what is kept in the end saw half of the data.
"""

import threading

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)


def build():
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
    model.build((None, 24))
    return model


class Tower(threading.Thread):
    def __init__(self, device, x, y):
        super().__init__()
        self.device = device
        with tf.device(device):
            self.x, self.y = tf.identity(x), tf.identity(y)
            self.model = build()
            self.optimizer = tf.keras.optimizers.SGD(0.05)
            self.optimizer.build(self.model.trainable_variables)

    def run(self):
        with tf.device(self.device):
            for _ in range(16):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(self.model(self.x) - self.y))
                gradients = tape.gradient(loss, self.model.trainable_variables)
                self.optimizer.apply_gradients(  # expect: replica-drift
                    zip(gradients, self.model.trainable_variables)
                )


x, y = tf.random.normal((64, 24)), tf.random.normal((64, 1))
towers = [Tower(f"CPU:{i + 1}", *half) for i, half in enumerate(zip(tf.split(x, 2), tf.split(y, 2)))]
weights = towers[0].model.get_weights()
for tower in towers:
    tower.model.set_weights(weights)
for tower in towers:
    tower.start()
for tower in towers:
    tower.join()
