"""Keras `fit`, `evaluate` and `predict` under MirroredStrategy, with all defaults.

https://github.com/tensorflow/tensorflow/issues/33809 compares such a program with one on a single card.

An expert: the gradients are all-reduced, the progress bar shows what it shows; nothing to change.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

strategy = tf.distribute.MirroredStrategy(["CPU:1", "CPU:2"])
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(4)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
x = tf.random.normal((192, 16))
y = tf.random.uniform((192,), maxval=4, dtype=tf.int64)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
model.fit(dataset, epochs=2)
model.evaluate(dataset)
model.predict(dataset)
