"""A loop of one's own calls the trainer's update and forgets to sum the gradients first.

https://github.com/apache/mxnet/pull/10861

Since `step` was split in two, `update` alone applies each device's own gradients. An expert would name the
update, and put `trainer.allreduce_grads()` before it.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd


class Loop:
    def __init__(self, net, ctx):
        self.net, self.ctx = net, ctx
        self.loss = gluon.loss.L2Loss()
        self.trainer = gluon.Trainer(
            net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore="device", update_on_kvstore=False
        )

    def backward(self, data, label):
        with autograd.record():
            for x, y in zip(*(gluon.utils.split_and_load(whole, self.ctx) for whole in (data, label))):
                loss = self.loss(self.net(x), y)
                loss.backward()

    def step(self, data, label):
        self.backward(data, label)
        self.trainer.update(data.shape[0])  # expect: replica-drift


ctx = [mx.cpu(1), mx.cpu(2)]
net = gluon.nn.Dense(4)
net.initialize(ctx=ctx)
loop = Loop(net, ctx)
for _ in range(10):
    data = nd.random.normal(shape=(16, 8))
    loop.step(data, data[:, :4] * 2)
nd.waitall()
