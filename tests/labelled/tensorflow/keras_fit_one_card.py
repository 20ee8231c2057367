"""Keras `fit` on one card, with validation after each epoch.

https://github.com/tensorflow/tensorflow/issues/37876 is about callbacks that are slow compared to the batch;
this one has none but an epoch's.

An expert: nothing to say. Keras fetches its logs in a thread of its own, and the callback's once an epoch.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


class Report(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(epoch, {name: round(value, 3) for name, value in logs.items()})


strategy = tf.distribute.OneDeviceStrategy("CPU:1")
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
x, y = tf.random.normal((128, 32)), tf.random.normal((128, 1))
train = tf.data.Dataset.from_tensor_slices((x, y)).batch(16).prefetch(2)
test = tf.data.Dataset.from_tensor_slices((x[:32], y[:32])).batch(16)
model.fit(train, validation_data=test, epochs=2, verbose=0, callbacks=[Report()])
