"""A sparse adjacency is weighted element by element inside a training step.

https://github.com/tensorflow/tensorflow/issues/14441: sparse_dense_binary_op_shared.cc has no GPU support;
sparse_tensor_dense_matmul has.

case: preflight

An expert: the weights go down to the host for the product and what it gives comes back in each step; the product of
matrices after it runs on the card.
"""

import tensorflow as tf

features = tf.random.normal((200, 16))
logits = tf.Variable(tf.zeros((200, 200)), name="logits")
edges = tf.constant([[i, (3 * i) % 200] for i in range(200)], dtype=tf.int64)
graph = tf.SparseTensor(edges, tf.random.uniform((200,)), (200, 200))


@tf.function
def propagate():
    gate = tf.sigmoid(logits)
    weighted = graph * gate  # expect: no-kernel
    mixed = tf.sparse.sparse_dense_matmul(weighted, features)
    logits.assign_sub(0.01 * tf.reduce_mean(mixed) * gate)


for _ in range(8):
    propagate()
