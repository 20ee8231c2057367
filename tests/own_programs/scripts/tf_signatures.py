"""inspect: signatures, names, modules, source lines and docstrings of TensorFlow's public functions."""

# frameworks: tensorflow
import inspect

import keras
import tensorflow as tf


def about(thing):
    try:
        signature = str(inspect.signature(thing)) + str(inspect.getfullargspec(thing))
    except (TypeError, ValueError) as error:
        signature = type(error).__name__
    if " at 0x" in signature:
        signature = signature.partition(" at 0x")[0]
    try:
        line = inspect.getsourcelines(thing)[1]
    except (TypeError, OSError) as error:
        line = type(error).__name__
    return (
        signature,
        getattr(thing, "__name__", None),
        getattr(thing, "__qualname__", None),
        getattr(thing, "__module__", None),
        line,
        len(inspect.getdoc(thing) or ""),
    )


places = [
    tf,
    tf.distribute,
    tf.data,
    tf.math,
    tf.nn,
    tf.autograph,
    tf.debugging,
    tf.raw_ops,
    tf.config,
    tf.compat.v1,
]
for place in places:
    for name in dir(place):
        thing = getattr(place, name, None)
        if inspect.isroutine(thing):
            print(place.__name__, name, about(thing))
classes = [
    tf.Tensor,
    type(tf.ones(1)),
    tf.Variable,
    tf.GradientTape,
    tf.Graph,
    tf.Operation,
    tf.Module,
    tf.compat.v1.Session,
]
classes += [
    tf.data.Dataset,
    keras.Model,
    keras.layers.Dense,
    keras.optimizers.Optimizer,
    keras.optimizers.SGD,
]
classes += [
    tf.distribute.Strategy,
    tf.distribute.MirroredStrategy,
    tf.distribute.ReplicaContext,
    type(tf.function(len)),
]
classes += [
    keras.layers.LSTM,
    keras.layers.GRU,
    tf.distribute.CrossDeviceOps,
    tf.distribute.ReductionToOneDevice,
]
classes += [keras.Sequential, keras.layers.RNN, tf.compat.v1.train.Optimizer, tf.compat.v1.Session.__mro__[1]]
for owner in classes:
    for name in dir(owner):
        thing = inspect.getattr_static(owner, name, None)
        if inspect.isfunction(thing):
            print(owner.__name__, name, about(thing))
