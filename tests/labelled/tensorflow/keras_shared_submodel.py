"""One Keras model, built on the host, is called on two cards, and its results are merged on the host.

https://github.com/keras-team/keras/issues/5411 asks how the weights of such a model get to the cards.

An expert: they are read from the host at the line of the call, on each card, in each call. The merge on the
host was asked for.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

DEVICES = ["CPU:1", "CPU:2"]
with tf.device("CPU:0"):
    sub_model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(8)])
    sub_model.build((None, 32))


@tf.function
def predict(parts):
    outputs = []
    for device, part in zip(DEVICES, parts):
        with tf.device(device):
            outputs.append(sub_model(part))  # expect: variable-home
    with tf.device("CPU:0"):
        return tf.concat(outputs, axis=0)  # expect: info explicit


parts = []
for device in DEVICES:
    with tf.device(device):
        parts.append(tf.random.normal((16, 32)))
for _ in range(12):
    predict(parts)
