"""The same model, from the same weights, trained on two cards side by side with two learning rates.

https://github.com/keras-team/keras-tuner/issues/220 wants a combination of parameters on each GPU.

An expert: nothing: a search compares models that go apart.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
RATES = {"CPU:1": 0.1, "CPU:2": 0.02}

x, y = tf.random.normal((32, 10)), tf.random.normal((32, 1))
trials = []
for card, rate in RATES.items():
    with tf.device(card):
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(1)])
        model.build((None, 10))
        optimizer = tf.keras.optimizers.Adam(rate)
        optimizer.build(model.trainable_variables)
        trials.append((card, model, optimizer, tf.identity(x), tf.identity(y)))

for _ in range(8):
    for card, model, optimizer, inputs, wanted in trials:
        with tf.device(card):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(inputs) - wanted))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
