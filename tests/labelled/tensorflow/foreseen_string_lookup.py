"""Words are looked up in a hash table inside the model, which is in the scope of a card.

https://github.com/tensorflow/tensorflow/issues/58153: "Op:HashTableV2 isn't supported on GPUs", so StringLookup
and IntegerLookup cannot run there.

case: preflight

An expert: table and look-up are on the host; the ids go to the card in each call. Look up in the input pipeline.
"""

import tensorflow as tf

words = ["a", "b", "c", "d"]
initializer = tf.lookup.KeyValueTensorInitializer(words, tf.range(4, dtype=tf.int64))
with tf.device("/GPU:0"):
    table = tf.lookup.StaticHashTable(initializer, default_value=0)
    vectors = tf.Variable(tf.random.normal((4, 32)), name="vectors")


@tf.function
def embed(tokens):
    with tf.device("/GPU:0"):
        ids = table.lookup(tokens)  # expect: no-kernel
        return tf.reduce_sum(tf.gather(vectors, ids), axis=0)


tokens = tf.constant(["a", "c", "d", "d", "x", "b", "a", "a", "c"] * 20)
for _ in range(8):
    embed(tokens)
