"""Errors while a function is traced and while it runs: AutoGraph's report, the op's stack, nested functions."""

# frameworks: tensorflow
# quick: tensorflow
import traceback

import tensorflow as tf


@tf.function
def inner(x):
    if tf.reduce_sum(x) > 0:
        return tf.matmul(x, x)
    return x


@tf.function
def outer(x):
    return inner(x)


@tf.function
def at_runtime(x):
    y = tf.debugging.check_numerics(x / 0.0, "not a number")
    return y


@tf.function(autograph=False)
def raises(x):
    raise ValueError("in the user's function")


def attempt(function, *args):
    try:
        function(*args)
    except Exception:
        traceback.print_exc()


attempt(outer, tf.ones((2, 3)))
attempt(raises, 1)
attempt(at_runtime, tf.ones(2))
attempt(tf.function(lambda x: tf.Variable(x)), 1.0)
attempt(outer.get_concrete_function, 3)
at_runtime(tf.zeros(3))
