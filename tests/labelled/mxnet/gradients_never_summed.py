"""Two devices, a batch's half each, and two ways of training that never sum the gradients.

https://github.com/apache/mxnet/issues/1827 (how devices train copies of a model by hand)

An expert: each copy learns from its half of the data alone. Gluon's Trainer sums the gradients of one net on
several contexts; an update of one's own, or a trainer for each copy, does not.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

contexts = [mx.cpu(1), mx.cpu(2)]


def sgd(params, rate):
    for param in params.values():
        for weight, grad in zip(param.list_data(), param.list_grad()):
            weight -= rate * grad  # expect: replica-drift


def copy_of_net(ctx):
    mx.random.seed(11)
    net = gluon.nn.Dense(3, in_units=8)
    net.initialize(mx.init.Xavier(), ctx=ctx)
    return net


whole = gluon.nn.Dense(3)
whole.initialize(mx.init.Xavier(), ctx=contexts)
nets = [copy_of_net(ctx) for ctx in contexts]
trainers = [gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01}) for net in nets]

for _ in range(10):
    halves = gluon.utils.split_and_load(nd.random.normal(shape=(16, 8)), contexts)
    with autograd.record():
        losses = [nd.square(whole(x) - x[:, :3]).mean() for x in halves]
    autograd.backward(losses)
    sgd(whole.collect_params(), 0.1)

    for net, trainer, x in zip(nets, trainers, halves):
        with autograd.record():
            loss = nd.square(net(x) - x[:, :3]).mean()
        loss.backward()
        trainer.step(1)  # expect: replica-drift
nd.waitall()
