"""A rounding with a gradient of its own works in the card's scope, and is called in none.

https://github.com/cybertronai/gradient-checkpointing/issues/38 has ops moved elsewhere by what wraps them.

An expert: TensorFlow hands on what a function of custom gradients returns by an Identity, which stands in the
scope of the call: on the host here, and back. Call it in the card's scope.
"""

import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
)
CARD = "CPU:1"

with tf.device(CARD):
    first = tf.Variable(tf.random.normal((64, 64), stddev=0.1))
    second = tf.Variable(tf.random.normal((64, 64), stddev=0.1))
    x = tf.random.normal((128, 64))


@tf.custom_gradient
def rounded(value):
    def gradient(upstream):
        return upstream

    with tf.device(CARD):
        return tf.round(value * 8.0) / 8.0, gradient


def layer(value, weights):
    with tf.device(CARD):
        value = tf.tanh(tf.matmul(value, weights))
    return rounded(value)  # expect: bounce


for _ in range(12):
    with tf.GradientTape() as tape:
        hidden = layer(x, first)
        with tf.device(CARD):
            hidden = 2.0 * hidden
        out = layer(hidden, second)
        with tf.device(CARD):
            loss = tf.reduce_mean(tf.square(out - x))
    with tf.device(CARD):
        for gradient, weights in zip(tape.gradient(loss, [first, second]), [first, second]):
            weights.assign_sub(0.1 * gradient)
