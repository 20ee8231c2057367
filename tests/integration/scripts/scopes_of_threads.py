"""Workers of a pool, and a thread, compute in no scope of their own while the main thread has one open."""

import threading
from concurrent.futures import ThreadPoolExecutor

import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
)


def score(x):
    return tf.matmul(x, x)  # line 14


def later(x, started):
    started.wait()
    for _ in range(20):
        tf.nn.relu(x + tf.reduce_sum(x) * 2.0)  # line 20


with tf.device("/CPU:1"):
    for _ in range(20):
        data = tf.random.normal([256, 256])
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(score, [data, data + 1.0]))
started = threading.Event()
with tf.device("/CPU:2"):
    data = tf.random.normal([256, 256])
    thread = threading.Thread(target=later, args=(data, started))
    thread.start()
started.set()
thread.join()
