"""A thread prepares numpy batches ahead; the loop takes them from a queue and sends them to the card.

https://github.com/tensorflow/tensorflow/issues/3377: "having one python thread to read the data".

An expert: the batches have to go up, at the line that makes tensors of them. No fault.
"""

import queue
import threading

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

ready = queue.Queue(maxsize=4)


def load(count):
    rng = np.random.default_rng(0)
    for _ in range(count):
        ready.put((rng.normal(size=(16, 32)).astype("float32"), rng.normal(size=(16, 1)).astype("float32")))
    ready.put(None)


with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)


threading.Thread(target=load, args=(12,)).start()
while (batch := ready.get()) is not None:
    with tf.device("CPU:1"):
        x, y = [tf.constant(part) for part in batch]  # expect: info host-upload
    train_step(x, y)
