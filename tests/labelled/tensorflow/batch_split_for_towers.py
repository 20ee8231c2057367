"""Data parallelism by hand, as it should be: the host's batch is split there, and each half goes to its card.

https://bobondemon.github.io/2017/11/01/TF-Notes-Speedup-and-Benchmark-with-Two-GPU-Cards

An expert: nothing to warn of. The batch comes from tf.data in host memory, and each half crosses once, to the card
that needs it; the gradients of the second card and the mean cross once a step, as data parallelism needs.
"""

import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
)
CARDS = ["/cpu:1", "/cpu:2"]

weights = []
for card in CARDS:
    with tf.device(card):
        weights.append(tf.Variable(tf.random.stateless_normal((10, 1), seed=(41, 1))))


def gradient(card, w, x, y):
    with tf.device(card):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        return tape.gradient(loss, w)


@tf.function
def train(x, y):
    halves = zip(CARDS, weights, tf.split(x, 2), tf.split(y, 2))
    grads = [gradient(*half) for half in halves]
    with tf.device(CARDS[0]):
        mean = tf.add_n(grads) / 2.0
    for card, w in zip(CARDS, weights):
        with tf.device(card):
            w.assign_sub(0.05 * mean)


def rows(i):
    x = tf.random.stateless_normal((32, 10), seed=(41, i))
    return x, tf.reduce_sum(x, axis=1, keepdims=True)


for x, y in tf.data.Dataset.range(16).map(rows).prefetch(2):
    train(x, y)
print("weights", weights[1].numpy().ravel()[:3])
