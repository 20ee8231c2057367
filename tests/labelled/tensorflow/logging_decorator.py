"""A decorator around the training step writes each loss down.

https://thecodeforge.io/ml-ai/tensorflow-basics/: one `print(loss.numpy())` in the step took the GPU from 94 %
to below 20 %.

An expert: the decorator's line takes the value in each step, wherever the step is called.
"""

import functools

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

history = []


def logged(step):
    @functools.wraps(step)
    def wrapper(*args, **kwargs):
        loss = step(*args, **kwargs)
        history.append(float(loss))  # expect: host-sync
        return loss

    return wrapper


with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))
    x, y = tf.random.normal((64, 32)), tf.random.normal((64, 1))


@logged
@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)
    return loss


for _ in range(8):
    train_step(x, y)
