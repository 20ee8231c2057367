"""Stacks that the user's code prints where the framework calls it from: losses, traced functions, callbacks."""

# frameworks: tensorflow
import inspect

import keras
import numpy as np
import tensorflow as tf


def own():
    return [(frame.function, frame.lineno) for frame in inspect.stack()[1:] if frame.filename == __file__]


@tf.function
def traced(x):
    print("traced", own())
    return x


def callers():
    traced(tf.ones(1))


callers()


class Model(keras.Model):
    def call(self, x):
        print("call", own())
        return x * 2.0


model = Model()
model.compile("sgd", lambda y, p: (print("loss", own()), tf.reduce_mean(p))[1], run_eagerly=True)
model.evaluate(np.ones((2, 2)), np.ones((2, 2)), verbose=0)


@tf.custom_gradient
def odd(x):
    return x, lambda dy: (print("gradient", own()), dy)[1]


with tf.GradientTape() as tape:
    v = tf.Variable(1.0)
    y = odd(v)
tape.gradient(y, v)
tf.py_function(lambda: print("py_function", own()), [], [])
