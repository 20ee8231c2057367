"""A Keras callback in a module of its own looks at the weights after each batch.

https://github.com/keras-team/keras/issues/16700: `get_weights` in each iteration "more than triples the
training time".

An expert: `get_weights` takes the whole layer to Python in each batch. And because the callback is one for
batches, Keras itself takes the logs in each batch, within `fit`.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

from watching import WeightWatcher

strategy = tf.distribute.OneDeviceStrategy("CPU:1")
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
x, y = tf.random.normal((128, 32)), tf.random.normal((128, 1))
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16).prefetch(2)
model.fit(dataset, epochs=2, verbose=0, callbacks=[WeightWatcher()])  # may: host-sync
