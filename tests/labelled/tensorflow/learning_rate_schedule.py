"""The learning rate is a variable on the card, and Python sets it in each step.

https://github.com/tensorflow/tensorflow/issues/33903 places a Keras model on a card with a scope; this one does
it for all of the model, its optimizer and its rate.

An expert: four bytes go up in each step; nobody waits. No fault.
"""

import contextlib

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


@contextlib.contextmanager
def on_card(number):
    with tf.device(f"CPU:{number}"):
        yield


with on_card(1):
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
    model.build((None, 32))
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    optimizer.build(model.trainable_variables)
    x, y = tf.random.normal((64, 32)), tf.random.normal((64, 1))


@tf.function
def train_step(x, y):
    with on_card(1):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))


for step in range(8):
    with on_card(1):
        optimizer.learning_rate.assign(0.1 / (1 + step))
    train_step(x, y)
