"""A thread pool scores batches, each with a lambda that takes the score.

https://github.com/tensorflow/agents/issues/275 compares the speed of such loops with others'.

An expert: the lambda takes a value from the card for each batch; sum the scores there and take them once.
"""

from concurrent.futures import ThreadPoolExecutor

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 4)))
    batches = [tf.random.normal((16, 32)) for _ in range(16)]


@tf.function
def score(batch):
    with tf.device("CPU:1"):
        return tf.reduce_mean(tf.nn.softmax(tf.matmul(batch, w))[:, 0])


with ThreadPoolExecutor(2) as pool:
    scores = list(pool.map(lambda batch: float(score(batch)), batches))  # expect: host-sync
print(max(scores))
