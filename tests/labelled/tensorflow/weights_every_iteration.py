"""The weights are kept after every iteration, to plot them later.

https://github.com/keras-team/keras/issues/4054: "I would like to access the weights at every iteration".

An expert: each iteration takes all weights to Python, at that line.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((64, 16)), name="w")
    x, y = tf.random.normal((32, 64)), tf.random.normal((32, 16))


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)


trajectory = []
for _ in range(12):
    train_step(x, y)
    trajectory.append(w.numpy())  # expect: host-sync
print(len(trajectory))
