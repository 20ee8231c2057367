"""Weak references to tensors, variables, models and functions: freed when nobody has them."""

# frameworks: tensorflow
import gc
import weakref

import keras
import numpy as np
import tensorflow as tf

gc.disable()
x = tf.ones((10,)) + 1
v = tf.Variable(x)
copied = tf.identity(x)
dead = {name: weakref.ref(thing) for name, thing in {"x": x, "v": v, "copied": copied}.items()}
x.numpy(), float(x[0])
del x, v, copied
print({name: one() is None for name, one in dead.items()})
gc.enable()


@tf.function
def f(a):
    return a * 2


f(tf.ones(2))
graph = weakref.ref(f.get_concrete_function(tf.TensorSpec((2,))).graph)
one = weakref.ref(f)
del f
gc.collect()
print(one() is None, graph() is None)
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])
model.compile("sgd", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 2)), verbose=0)
kernel, whole, optimizer = (
    weakref.ref(model.layers[0].kernel),
    weakref.ref(model),
    weakref.ref(model.optimizer),
)
del model
keras.backend.clear_session()
gc.collect()
print(kernel() is None, whole() is None, optimizer() is None)
session_graph = tf.Graph()
with session_graph.as_default(), tf.compat.v1.Session() as session:
    session.run(tf.constant(1) + 1)
gone = weakref.ref(session_graph), weakref.ref(session)
del session_graph, session
gc.collect()
print([one() is None for one in gone])
