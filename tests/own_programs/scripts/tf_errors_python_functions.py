"""Errors in tf.py_function, tf.numpy_function and data pipelines: the text of them."""

# frameworks: tensorflow
import sys

import tensorflow as tf


def fails(x):
    raise KeyError("in Python")


def attempt(name, function):
    try:
        function()
    except Exception as error:
        print(name, type(error).__name__, str(error), file=sys.stderr)


attempt("py", lambda: tf.py_function(fails, [1.0], tf.float32))
attempt("numpy", lambda: tf.numpy_function(fails, [1.0], tf.float32))
attempt("function", tf.function(lambda: tf.py_function(fails, [1.0], tf.float32)))
attempt("map", lambda: list(tf.data.Dataset.range(2).map(lambda x: tf.py_function(fails, [x], tf.int64))))
attempt(
    "generator", lambda: list(tf.data.Dataset.from_generator(lambda: (fails(n) for n in range(2)), tf.int64))
)
