"""Two copies of a model train on two cards, and nobody averages their gradients.

https://github.com/tensorflow/tensorflow/issues/47676 asks whether "gradients [are] being averaged among the
workers"; here they are not.

An expert: the copies start equal and drift apart from the first step on: each applies its own gradients.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

DEVICES = ["CPU:1", "CPU:2"]
start = tf.random.normal((32, 1)).numpy()
towers = []
for device in DEVICES:
    with tf.device(device):
        towers.append(tf.Variable(start, name="w"))


@tf.function
def tower_step(w, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    return tape.gradient(loss, w)


for _ in range(8):
    for device, w in zip(DEVICES, towers):
        with tf.device(device):
            x, y = tf.random.normal((16, 32)), tf.random.normal((16, 1))
            w.assign_sub(0.01 * tower_step(w, x, y))  # expect: replica-drift
