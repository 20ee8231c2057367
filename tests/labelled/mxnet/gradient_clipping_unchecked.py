"""Gradients are clipped by their global norm, without asking whether it is finite.

https://github.com/apache/mxnet/pull/12042

With `check_isfinite=False` nothing is waited for, the norm stays on the device. An expert would find
nothing to change.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

ctx = mx.cpu(1)
model = nn.HybridSequential()
for width in (64, 64, 10):
    model.add(nn.Dense(width, activation="relu"))
model.initialize(ctx=ctx)
model.hybridize()
criterion = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 0.05})

inputs = nd.random.uniform(shape=(32, 100), ctx=ctx)
targets = nd.floor(nd.random.uniform(0, 10, shape=(32,), ctx=ctx))
for step in range(15):
    with autograd.record():
        loss = criterion(model(inputs), targets)
    loss.backward()
    grads = [p.grad(ctx) for p in model.collect_params().values() if p.grad_req != "null"]
    norm = gluon.utils.clip_global_norm(grads, 5.0, check_isfinite=False)
    trainer.step(32)
print("last norm", norm.asscalar())
