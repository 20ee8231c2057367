"""The parameters of one network are copied to another of the same kind, on the same devices.

https://discuss.mxnet.apache.org/t/batchnorm-parameters-are-not-properly-copied-under-multiple-gpu-setting/6676

That happens once, before training goes on. An expert would find nothing to change in how it runs.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

ctx = [mx.cpu(1), mx.cpu(2)]


def build():
    net = nn.HybridSequential()
    net.add(nn.Dense(32, in_units=16), nn.BatchNorm(in_channels=32), nn.Dense(4, in_units=32))
    net.initialize(ctx=ctx)
    net.hybridize()
    return net


def train(net, steps):
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
    l2 = gluon.loss.L2Loss()
    for _ in range(steps):
        xs = gluon.utils.split_and_load(nd.random.normal(shape=(32, 16)), ctx)
        with autograd.record():
            losses = [l2(net(x), x[:, :4]) for x in xs]
        autograd.backward(losses)
        trainer.step(32)  # expect: info collective


model_1, model_2 = build(), build()
train(model_1, 10)
for p1, p2 in zip(model_1.collect_params().values(), model_2.collect_params().values()):
    p2.set_data(p1.data(ctx[0]))
train(model_2, 10)
nd.waitall()
