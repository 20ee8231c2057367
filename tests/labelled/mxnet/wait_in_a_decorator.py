"""A decorator around the training step waits for all devices, lest memory grow.

https://github.com/apache/mxnet/issues/8747

`waitall` after each batch keeps the queue short, and takes from MXNet what makes it fast: sending the next
step while this one runs. An expert would name the wait (waiting for the loss of the step before bounds the
queue as well).
"""

import functools

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

ctx = mx.cpu(1)


def bounded(step):
    @functools.wraps(step)
    def run(*args, **kwargs):
        result = step(*args, **kwargs)
        nd.waitall()  # expect: host-sync
        return result

    return run


net = nn.HybridSequential()
net.add(nn.Conv2D(8, 3, activation="relu"), nn.Flatten(), nn.Dense(10))
net.initialize(ctx=ctx)
net.hybridize()
scel = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})


@bounded
def train_step(data, label):
    data = data.as_in_context(ctx)
    label = label.as_in_context(ctx)
    with autograd.record():
        loss = scel(net(data), label)
    loss.backward()
    trainer.step(data.shape[0])


for _ in range(12):
    train_step(nd.random.uniform(shape=(16, 3, 16, 16)), nd.floor(nd.random.uniform(0, 10, shape=(16,))))
