"""Pickled and deep-copied tensors, variables, models, optimizers and their states."""

# frameworks: tensorflow
import copy
import pickle

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
x = tf.constant([[1.0, 2.0]])
v = tf.Variable([3.0])
print(copy.deepcopy(x).numpy(), copy.copy(v).numpy(), copy.deepcopy(v).numpy())

try:
    print(pickle.loads(pickle.dumps(x)))
except Exception as error:
    print(type(error).__name__, error)
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])
model.compile("adam", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 2)), verbose=0)
again = pickle.loads(pickle.dumps(model))
print(np.allclose(again.predict(x, verbose=0), model.predict(x, verbose=0)))
print(np.array_equal(copy.deepcopy(model).get_weights()[0], model.get_weights()[0]))
print(sorted(vars(model.optimizer))[:5], len(pickle.dumps(x.numpy())))
print(repr(x), str(v), format(x[0, 0]), hash(x.ref()) == hash(x.ref()))
