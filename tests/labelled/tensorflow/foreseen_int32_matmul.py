"""Counts of word pairs are multiplied as int32 matrices in the scope of a card.

https://github.com/tensorflow/tensorflow/issues/48481: "Matmul with int32 datatype is not supported on GPU".

case: preflight

An expert: the product has no int32 kernel for cards (matmul_op_real.cc registers none), so it runs on the host;
what uses it on the card gets it from there in each step. As float32 it would stay.
"""

import tensorflow as tf

with tf.device("/GPU:0"):
    weights = tf.Variable(tf.random.normal((256, 64)), name="weights")


@tf.function
def pairs(counts):
    with tf.device("/GPU:0"):
        together = tf.matmul(counts, counts, transpose_b=True)  # expect: no-kernel
        # An int32 product of the host is cast where a kernel takes it from the host's memory, or there.
        scores = tf.matmul(tf.cast(together, tf.float32), weights)  # may: no-kernel, default-device
        weights.assign_sub(0.001 * scores / 256.0)


with tf.device("/GPU:0"):
    counts = tf.cast(tf.random.uniform((256, 128)) * 9.0, tf.int32)
for _ in range(8):
    pairs(counts)
