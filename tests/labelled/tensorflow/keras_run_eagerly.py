"""A Keras model with a train_step of its own runs eagerly, to be able to print.

https://github.com/tensorflow/tensorflow/issues/40880 asks how to get eager execution in train_step;
https://github.com/USGS-R/river-dl/pull/109 measured it to be three times slower.

An expert: the loss is taken in each step at the line that logs it.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)


class Logged(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)
        self.losses_seen = []

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.losses_seen.append(loss.numpy())  # expect: host-sync
        return {"loss": loss}


with tf.device("CPU:1"):
    model = Logged()
    model.build((None, 16))
    model.compile("sgd", run_eagerly=True)
    x, y = tf.random.normal((96, 16)), tf.random.normal((96, 1))
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
    model.fit(dataset, epochs=1, verbose=0)  # may: host-sync
