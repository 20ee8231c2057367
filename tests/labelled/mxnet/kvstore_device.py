"""A trainer on two devices with its default kvstore, `device`.

https://discuss.mxnet.io/t/single-node-multi-gpu-machine/1988

Gradients are summed on the devices and each gets the sum: what data parallelism is. The loss is taken once
an epoch. An expert would find nothing to change.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

ctx = [mx.cpu(1), mx.cpu(2)]
net = nn.HybridSequential()
net.add(nn.Dense(256, activation="relu"), nn.Dense(10))
net.initialize(mx.init.Xavier(), ctx=ctx)
net.hybridize()
loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})

for epoch in range(2):
    for i in range(10):
        batch = nd.random.uniform(shape=(64, 100))
        labels = nd.floor(nd.random.uniform(0, 10, shape=(64,)))
        xs, ys = (gluon.utils.split_and_load(part, ctx) for part in (batch, labels))
        with autograd.record():
            losses = [loss_fn(net(x), y) for x, y in zip(xs, ys)]
        autograd.backward(losses)
        trainer.step(64)  # expect: info collective
    print("epoch", epoch, "loss", losses[0].mean().asscalar())
