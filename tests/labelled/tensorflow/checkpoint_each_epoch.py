"""The weights are saved after each epoch.

https://github.com/keras-team/keras/issues/5008 has a callback that saves every N batches.

An expert: a checkpoint takes the variables to the host, twice in this run. No fault.
"""

import tempfile

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((256, 64)))
    x, y = tf.random.normal((16, 256)), tf.random.normal((16, 64))


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)


with tempfile.TemporaryDirectory() as folder:
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(w=w), folder, max_to_keep=1)
    for epoch in range(2):
        for _ in range(8):
            train_step(x, y)
        manager.save()
