"""A logger given as a lambda prints the loss tensor in each step.

https://d2l.smola.org/slides/tensorflow/chapter_computational-performance/async-computation.html: "Don't
print(loss) inside the training loop unless you need it."

An expert: printing a tensor takes its value; the lambda's line is where.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

log = lambda step, loss: print("step", step, "loss", loss)  # expect: host-sync

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))
    x, y = tf.random.normal((64, 32)), tf.random.normal((64, 1))


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)
    return loss


for step in range(8):
    log(step, train_step(x, y))
