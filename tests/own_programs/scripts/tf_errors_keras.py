"""Errors in Keras: a layer's call, a loss, a metric, a callback, wrong shapes, while fitting."""

# frameworks: tensorflow
import traceback

import numpy as np
import tensorflow as tf
import keras


class Bad(keras.layers.Layer):
    def call(self, x):
        return tf.matmul(x, tf.ones((7, 7)))


def loss(y, p):
    raise ValueError("in the loss")


class Callback(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        raise RuntimeError("in the callback")


x, y = np.ones((8, 4), "float32"), np.ones((8, 1), "float32")


def attempt(function):
    try:
        function()
    except Exception:
        traceback.print_exc()


def model(*layers, **options):
    made = keras.Sequential([keras.Input((4,)), *layers, keras.layers.Dense(1)])
    made.compile(**{"optimizer": "sgd", "loss": "mse", **options})
    return made


for unfiltered in (False, True):
    if unfiltered:
        keras.config.disable_traceback_filtering()
        tf.debugging.disable_traceback_filtering()
    attempt(lambda: model(Bad()))
    attempt(lambda: model(loss=loss).fit(x, y, verbose=0))
    attempt(lambda: model().fit(x, y, verbose=0, callbacks=[Callback()]))
    attempt(lambda: model().fit(x, y[:3], verbose=0))
    attempt(lambda: model().predict(np.ones((2, 9))))
    attempt(lambda: model().compile(optimizer="none of these"))
    attempt(lambda: model(run_eagerly=True, loss=loss).fit(x, y, verbose=0))
