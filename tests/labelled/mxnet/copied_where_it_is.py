"""Batches that are on the device already are copied to it again.

https://github.com/apache/mxnet/pull/6390

The data set was moved to the device once, before the loop; `copyto` in the loop still makes a new array
each time, where `as_in_context` would return the same. An expert would name both copies as needless.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

ctx = mx.cpu(1)
X = nd.random.uniform(shape=(10, 32, 64)).as_in_context(ctx)
Y = nd.floor(nd.random.uniform(0, 10, shape=(10, 32))).as_in_context(ctx)

net = nn.HybridSequential()
net.add(nn.Dense(64, activation="relu"), nn.Dense(10))
net.initialize(ctx=ctx)
net.hybridize()
loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
for epoch in range(2):
    for i in range(10):
        data = X[i].copyto(ctx)  # expect: redundant-copy
        label = Y[i].copyto(ctx)  # expect: redundant-copy
        with autograd.record():
            loss = loss_fn(net(data), label)
        loss.backward()
        trainer.step(32)
nd.waitall()
