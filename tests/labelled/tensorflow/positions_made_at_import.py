"""A table of positions is made of numpy's values when the module is imported, before any device scope.

https://github.com/tensorflow/tensorflow/issues/60883

An expert: the constant is a tensor on the default device since, and the function that captures it sends it to the
card again in each call. Make it in the card's scope. The batches come from the host, as they have to.
"""

import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
)
LENGTH, WIDTH, WORDS = 64, 32, 100


def sinusoids(length, width):
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, width, 2)[None, :] / width)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype("float32")


POSITIONS = tf.constant(sinusoids(LENGTH, WIDTH))
SCALE = tf.constant(0.5)

with tf.device("CPU:1"):
    table = tf.Variable(tf.random.normal((WORDS, WIDTH), stddev=0.1))
    head = tf.Variable(tf.random.normal((WIDTH, WORDS), stddev=0.1))
    optimizer = tf.keras.optimizers.Adam(0.01)
    optimizer.build([table, head])


def embedded(words):
    return tf.gather(table, words) + SCALE * POSITIONS  # expect: redundant-copy


@tf.function
def train_step(words):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            logits = tf.matmul(tf.reshape(embedded(words), (-1, WIDTH)), head)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(tf.reshape(words, (-1,)), logits)
            )
        optimizer.apply_gradients(zip(tape.gradient(loss, [table, head]), [table, head]))


texts = tf.data.Dataset.from_tensor_slices(np.random.default_rng(0).integers(0, WORDS, (96, LENGTH)))
for words in texts.batch(8):
    train_step(words)
