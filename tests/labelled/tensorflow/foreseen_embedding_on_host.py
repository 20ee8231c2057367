"""The embedding of a model is created on the host, and the rest names no device.

https://github.com/tensorflow/tensorflow/issues/44194: Embedding layers were pinned to the CPU, with
"unnecessary MemcpyH2D and MemcpyD2H calls" in each step and a training 2 to 3 times as slow.

case: preflight

An expert: on a machine with a card all but the table goes there by itself; the rows come from the host in each
step, at the line of the look-up.
"""

import tensorflow as tf

with tf.device("/CPU:0"):
    table = tf.Variable(tf.random.normal((5000, 64)), name="embeddings")
dense = tf.Variable(tf.random.normal((64, 10)), name="dense")
optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def train_step(ids, labels):
    with tf.GradientTape() as tape:
        rows = tf.nn.embedding_lookup(table, ids)  # expect: variable-home
        scores = tf.matmul(tf.reduce_mean(rows, axis=1), dense)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))
    gradients = tape.gradient(loss, [dense])
    optimizer.apply_gradients(zip(gradients, [dense], strict=True))


ids = tf.random.uniform((128, 20), maxval=5000, dtype=tf.int64)
labels = tf.random.uniform((128,), maxval=10, dtype=tf.int64)
for _ in range(8):
    train_step(ids, labels)
