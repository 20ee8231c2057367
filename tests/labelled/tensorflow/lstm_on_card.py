"""A Keras LSTM trains on one card in a custom loop.

https://github.com/tensorflow/tensorflow/issues/18705 compares the loops that recurrent layers are made of.

An expert: the loop over time is within the card. No fault.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    model = tf.keras.Sequential([tf.keras.layers.LSTM(16), tf.keras.layers.Dense(1)])
    model.build((None, 10, 8))
    optimizer = tf.keras.optimizers.RMSprop(1e-3)
    optimizer.build(model.trainable_variables)
    x, y = tf.random.normal((16, 10, 8)), tf.random.normal((16, 1))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))


with tf.device("CPU:1"):
    for _ in range(12):
        train_step(x, y)
