"""Copies that MXNet makes by itself: back over two contexts, and in a trainer's exchange; three steps."""

import sys

import mxnet as mx
from mxnet import autograd, gluon, nd

contexts = [mx.cpu(int(number)) for number in sys.argv[2].split(",")]
weight = nd.ones((8, 4), ctx=contexts[0])
weight.attach_grad()
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(16, in_units=8), gluon.nn.BatchNorm(in_channels=16), gluon.nn.Dense(4, in_units=16))
net.initialize(ctx=contexts)
net.hybridize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore=sys.argv[1])
for _ in range(3):
    with autograd.record():
        hidden = nd.dot(nd.ones((4, 8), ctx=contexts[0]), weight)
        moved = hidden.copyto(contexts[0]).as_in_context(contexts[1])
        loss = (moved * moved).sum()
    loss.backward()  # over contexts
    with autograd.record():
        losses = [net(nd.ones((2, 8), ctx=context)).sum() for context in contexts]
    autograd.backward(losses)  # on each
    trainer.step(2 * len(contexts))  # exchange
nd.waitall()
