"""Two devices train a model from scratch, without a trainer: gradients are summed on the first one by hand.

https://github.com/apache/mxnet/issues/1827

Copying the other device's gradients to the first, summing there and copying back is what the code says.
Waiting for all devices after each step is not needed for it: an expert would name that line.
"""

import mxnet as mx
from mxnet import autograd, nd

devices = [mx.cpu(1), mx.cpu(2)]
params = [nd.random.normal(scale=0.1, shape=(10, 4)), nd.zeros((4,))]


def get_params(params, ctx):
    new_params = [p.copyto(ctx) for p in params]
    for p in new_params:
        p.attach_grad()
    return new_params


def allreduce(data):
    for i in range(1, len(data)):
        data[0][:] += data[i].copyto(data[0].context)  # expect: info explicit
    for i in range(1, len(data)):
        data[0].copyto(data[i])  # expect: info explicit


def sgd(params, lr):
    for param in params:
        param[:] -= lr * param.grad


replicas = [get_params(params, device) for device in devices]
for step in range(12):
    batches = [nd.random.uniform(shape=(8, 10), ctx=device) for device in devices]
    with autograd.record():
        losses = [nd.square(nd.dot(x, w) + b).mean() for x, (w, b) in zip(batches, replicas)]
    for loss in losses:
        loss.backward()
    for i in range(len(params)):
        allreduce([replica[i].grad for replica in replicas])
    for replica in replicas:
        sgd(replica, 0.1)
    nd.waitall()  # expect: host-sync
