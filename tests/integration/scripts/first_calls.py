"""Four threads call a function for the first time at once, then another one, twenty times each."""

import threading

import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
)
with tf.device("cpu:1"):
    x = tf.ones((8, 64))


@tf.function
def double(batch):
    with tf.device("cpu:2"):
        return batch * 2.0 + 1.0  # line 17


@tf.function
def halve(batch):
    with tf.device("cpu:1"):
        near = tf.reduce_sum(batch * batch, axis=0)
    with tf.device("cpu:2"):
        return near / 2.0 - 1.0  # line 25


def work(start):
    for function in (double, halve):
        start.wait()
        for _ in range(20):
            function(x)


start = threading.Barrier(4)
threads = [threading.Thread(target=work, args=(start,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
