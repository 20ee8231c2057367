"""A hybridized block, called from one line; its ops are at the lines of its hybrid_forward."""

import contextlib

import mxnet as mx
from mxnet import autograd, gluon, nd

one = mx.cpu(1)


class Net(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.first = gluon.nn.Dense(16, in_units=8)
        self.second = gluon.nn.Dense(4, in_units=16)

    def hybrid_forward(self, F, x):
        x = F.relu(self.first(x))  # hidden
        return self.second(x)  # output


net = Net()
net.initialize(ctx=one)
net.hybridize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
for _ in range(5):
    with autograd.record():
        loss = net(nd.ones((6, 8), ctx=one)).sum()  # call
    loss.backward()
    trainer.step(6)
with contextlib.suppress(mx.base.MXNetError):
    net(nd.ones((6, 8), ctx=mx.cpu(2)))  # refused
