"""A scan whose gradient TensorFlow tries in vain to fold into a constant, and a loop that fails."""

import sys

import tensorflow as tf

weights = tf.Variable(tf.ones([3]))


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        last = tf.scan(lambda before, one: tf.tanh(before + one), batch * weights)[-1]
        tf.print("told from within")
    return tape.gradient(last, weights)


@tf.function
def fail(limit):
    for index in tf.range(3):
        tf.debugging.assert_less(index, limit, message="too far")


train_step(tf.ones([4, 3]))
try:
    fail(tf.constant(2))
except tf.errors.InvalidArgumentError:
    print("it failed", file=sys.stderr)
