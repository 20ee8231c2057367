"""A prior that is made before any device scope is captured by the function that trains on the card.

https://github.com/tensorflow/tensorflow/issues/60883

An expert: what a tf.function captures is an argument of it, so the prior stays on the default device where it
was made and goes to the card with every call (a plain eager op would keep the copy). Make it in the card's scope.
"""

from functools import partial

import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)

uniform = tf.random.stateless_uniform((256, 64), seed=(9, 9))
prior = tf.linalg.normalize(uniform, ord=1, axis=1)[0]  # expect: default-device


def kl(q, p):
    return tf.reduce_mean(tf.reduce_sum(q * (tf.math.log(q + 1e-9) - tf.math.log(p + 1e-9)), axis=1))


with tf.device("/cpu:1"):
    logits = tf.Variable(tf.zeros((256, 64)))

to_prior = partial(kl, p=prior)


@tf.function
def step(rate):
    with tf.device("/cpu:1"):
        with tf.GradientTape() as tape:
            loss = to_prior(tf.nn.softmax(logits))
        logits.assign_sub(rate * tape.gradient(loss, logits))
        return loss


with tf.device("/cpu:1"):
    rate = tf.constant(5.0)
losses = [step(rate) for _ in range(14)]
print("kl", [round(float(loss), 4) for loss in losses[::13]])
