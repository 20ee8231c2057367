"""An embedding table is pinned to the host, the rest of the model is on a card.

https://github.com/tensorflow/tensorflow/issues/44194: the Embedding layer is pinned to the CPU, with
"unnecessary MemcpyH2D and MemcpyD2H calls" in each step.

An expert: the table is looked up on the host, where it lives: the ids go there and the rows come back.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:0"):
    table = tf.Variable(tf.random.normal((1000, 64)), name="embeddings")
with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((64, 10)), name="w")
    ids = tf.random.uniform((32, 20), maxval=1000, dtype=tf.int64)


@tf.function
def predict(ids):
    with tf.device("CPU:1"):
        mean = tf.reduce_mean(tf.nn.embedding_lookup(table, ids), axis=1)  # expect: variable-home
        return tf.nn.softmax(tf.matmul(mean, w))


for _ in range(8):
    predict(ids)
