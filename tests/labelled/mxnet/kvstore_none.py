"""Two devices train copies of one network, and nothing sums their gradients.

https://github.com/apache/mxnet/issues/5697

Without a kvstore two cards are "faster than one": each goes its own way. An expert would say that the
replicas drift apart, at the line that updates them.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

ctx = [mx.cpu(1), mx.cpu(2)]
net = nn.Sequential()
net.add(nn.Dense(32, activation="relu"), nn.Dense(1))
net.initialize(mx.init.Xavier(), ctx=ctx)
loss_fn = gluon.loss.L2Loss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05}, kvstore=None)

X = nd.random.normal(shape=(320, 10))
y = X.sum(axis=1)
for start in range(0, 320, 32):
    xs = gluon.utils.split_and_load(X[start : start + 32], ctx)
    ys = gluon.utils.split_and_load(y[start : start + 32], ctx)
    with autograd.record():
        losses = [loss_fn(net(a), b) for a, b in zip(xs, ys)]
    for loss in losses:
        loss.backward()
    trainer.step(32)  # expect: replica-drift
nd.waitall()
