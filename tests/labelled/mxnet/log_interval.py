"""Progress is logged every so many batches.

https://github.com/dmlc/gluon-cv/issues/506

With `--log-interval 1` each batch waits for the one before; the script's default is 100, here ten. An
expert would find nothing to change.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

ctx = mx.cpu(1)
net = nn.HybridSequential()
net.add(nn.Dense(64, activation="relu"), nn.Dense(4))
net.initialize(ctx=ctx)
net.hybridize()
smoothl1 = gluon.loss.HuberLoss()
metric = mx.metric.Loss("SmoothL1")
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})


def log(step, losses, interval=10):
    if step % interval == 0:
        metric.update(0, losses)  # expect: info host-sync
        print("[Batch %d], %s=%.3f" % (step, *metric.get()))


for step in range(40):
    x = nd.random.uniform(shape=(16, 32), ctx=ctx)
    with autograd.record():
        loss = smoothl1(net(x), x[:, :4])
    loss.backward()
    trainer.step(16)
    log(step, [loss])
