"""Gradients of several batches are added up and set to zero again, by an op that has no outputs."""

import mxnet as mx
from mxnet import autograd, gluon, nd

one = mx.cpu(1)
net = gluon.nn.Dense(4, in_units=8)
net.initialize(ctx=one)
net.collect_params().setattr("grad_req", "add")
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
for _ in range(6):
    for _ in range(2):
        x = nd.ones((2, 8), ctx=one)
        with autograd.record():
            loss = net(x).sum()
        loss.backward()
    trainer.step(4)
    net.collect_params().zero_grad()  # set to zero
print(net.weight.grad().sum().asscalar())
