"""A perceptron decides in Python whether each example was classified wrongly.

https://github.com/zackchase/mxnet-the-straight-dope/pull/315

The condition is a value of the device: `if` takes it, once for each example. An expert would name the
condition and compute the update for the whole batch with a mask.
"""

import mxnet as mx
from mxnet import nd

ctx = mx.cpu(1)


def get_data(samples, dimension):
    direction = nd.ones((dimension,), ctx=ctx)
    X = nd.random_normal(shape=(samples, dimension), ctx=ctx)
    Y = nd.sign(nd.dot(X, direction))
    return X, Y


def perceptron(w, b, x, y):
    if y * (nd.dot(w, x) + b) <= 0:  # expect: host-sync
        w += y * x
        b += y
        return 1
    return 0


X, Y = get_data(60, 4)
w, b = nd.zeros((4,), ctx=ctx), nd.zeros((1,), ctx=ctx)
errors = 0
for x, y in zip(X, Y):
    errors += perceptron(w, b, x, y)
print("encountered an error %d times" % errors)
