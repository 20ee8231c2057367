"""Words are hashed into buckets inside the step of a model that names no device.

https://github.com/tensorflow/tensorflow/issues/48520: hashing text is work for the host, as the text itself is in
its memory and in no other.

case: preflight

An expert: the ids are made on the host, though the look-up runs on the card, and go there in each step; in the input
pipeline that would be ahead of it.
"""

import tensorflow as tf

table = tf.Variable(tf.random.normal((1000, 32)), name="table")


@tf.function
def embed(words):
    ids = tf.strings.to_hash_bucket_fast(tf.strings.lower(words), 1000)  # expect: no-kernel
    vectors = tf.gather(table, ids)
    table.scatter_nd_sub(ids[:, tf.newaxis], 0.01 * vectors)
    return tf.reduce_mean(vectors)


words = tf.constant(["Here", "are", "some", "words", "of", "a", "TEXT", "again"] * 32)
for _ in range(8):
    embed(words)
