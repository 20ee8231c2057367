"""Two models are trained in turn with train_on_batch, each call giving its loss as a number.

https://github.com/tensorflow/tensorflow/issues/48732

An expert: each call waits for its loss, whether anybody looks at it or not. The fit before it takes its logs too,
which is Keras' own affair.
"""

import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
)


def model(width, out):
    layers = [tf.keras.layers.Dense(width, activation="relu"), tf.keras.layers.Dense(out)]
    made = tf.keras.Sequential([tf.keras.Input((32,)), *layers])
    made.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss="mse")
    return made


rng = np.random.default_rng(0)
x, y = rng.random((64, 32), dtype="float32"), rng.random((64, 1), dtype="float32")
with tf.device("CPU:1"):
    actor, critic = model(64, 4), model(64, 1)
    critic.fit(x, y, batch_size=32, epochs=1, verbose=0)
    for _ in range(20):
        critic.train_on_batch(x, y)  # expect: host-sync; may: host-upload
        loss = actor.train_on_batch(x, np.repeat(y, 4, axis=1))  # expect: host-sync; may: host-upload
print("loss", loss)
