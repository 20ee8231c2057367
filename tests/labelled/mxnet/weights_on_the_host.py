"""Softmax regression from scratch: the data was moved to the device, the weights were not.

https://github.com/zackchase/mxnet-the-straight-dope/issues/299

With `ctx=mx.gpu(0)` the product raises: not all inputs live on the same context. Between CPU contexts it
runs in silence. An expert would name the line of the product and create W and b with `ctx=ctx`.
"""

import mxnet as mx
from mxnet import autograd, nd

ctx = mx.cpu(1)
num_inputs, num_outputs, batch_size = 64, 10, 32

W = nd.random_normal(shape=(num_inputs, num_outputs))
b = nd.random_normal(shape=num_outputs)
params = [W, b]
for param in params:
    param.attach_grad()


def softmax(y_linear):
    exp = nd.exp(y_linear - nd.max(y_linear, axis=1, keepdims=True))
    return exp / nd.sum(exp, axis=1, keepdims=True)


def net(X):
    y_linear = nd.dot(X, W) + b  # expect: mixed-context
    return softmax(y_linear)


def cross_entropy(yhat, y):
    return -nd.sum(y * nd.log(yhat + 1e-6))


for i in range(8):
    data = nd.random.uniform(shape=(batch_size, num_inputs), ctx=ctx)
    label = nd.one_hot(nd.floor(nd.random.uniform(0, num_outputs, shape=batch_size, ctx=ctx)), num_outputs)
    with autograd.record():
        loss = cross_entropy(net(data), label)
    loss.backward()
    for param in params:
        param[:] = param - 0.001 * param.grad
print(nd.norm(W).asscalar())
