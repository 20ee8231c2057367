"""Errors in sessions of TensorFlow 1: at creation, while running, the node's own stack."""

# frameworks: tensorflow
import traceback

import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
x = tf.placeholder(tf.float32, (None,), name="x")
y = tf.debugging.check_numerics(x / 0.0, "bad", name="checked")


def attempt(function):
    try:
        function()
    except Exception:
        traceback.print_exc()


with tf.Session() as session:
    attempt(lambda: tf.matmul(tf.ones((2, 3)), tf.ones((2, 3))))
    attempt(lambda: session.run(y))
    attempt(lambda: session.run(y, {x: [0.0]}))
    attempt(lambda: session.run("missing:0"))
    v = tf.get_variable("v", initializer=1.0)
    attempt(lambda: session.run(v))
    attempt(lambda: tf.get_variable("v", initializer=1.0))
session.run(y, {x: [1.0]})
