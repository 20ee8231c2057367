"""Gradients of two devices are pushed to a local kvstore by hand.

https://github.com/apache/mxnet/issues/7861

`push` sums what the devices have and applies the updater, `pull` hands the weights out. A kvstore `local`
sums in host memory. An expert would name the push, and create the store as `device`.
"""

import mxnet as mx
from mxnet import autograd, nd

ctx = [mx.cpu(1), mx.cpu(2)]
kv = mx.kv.create("local")
kv.init("weight", nd.ones((64, 32)))
kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.01))
weights = [nd.zeros((64, 32), ctx=c) for c in ctx]
kv.pull("weight", out=weights)
for weight in weights:
    weight.attach_grad()

for step in range(10):
    for weight in weights:
        x = nd.random.uniform(shape=(16, 64), ctx=weight.context)
        with autograd.record():
            loss = nd.square(nd.dot(x, weight)).mean()
        loss.backward()
    kv.push("weight", [weight.grad for weight in weights])  # expect: reduce-on-host
    kv.pull("weight", out=weights)
nd.waitall()
