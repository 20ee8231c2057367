"""Arrays that Python took from a device and makes tensors of in no scope: what uses those sends them on."""

import numpy as np
import tensorflow as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    weights = tf.random.normal([64, 64])


@tf.function
def step(state):
    with tf.device("CPU:1"):
        return tf.matmul(state, weights)


state = np.ones([8, 64], np.float32)
for _ in range(6):
    state = step(tf.constant(state)).numpy()  # line 21
state = np.ones([9, 64], np.float32)
for _ in range(6):
    state = step(state).numpy()  # line 24
state = np.ones([10, 64], np.float32)
for _ in range(6):
    tensor = tf.reshape(tf.constant(state), [10, 64])
    with tf.device("CPU:1"):
        made = tf.matmul(tensor, weights)  # line 29
    state = made.numpy()  # line 30
state = np.ones([11, 64], np.float32)
for _ in range(6):
    state = step(tf.constant(state)).numpy()  # line 33
    state *= 0.5
