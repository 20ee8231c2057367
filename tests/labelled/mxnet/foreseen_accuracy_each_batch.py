"""Gluon's accuracy is updated with each batch on a card that this machine need not have.

https://github.com/apache/mxnet/issues/9571: the metric "converts everything to numpy, causing a blocking operation
at every iteration".

case: preflight

An expert: the line of the update waits for the card in each step.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

ctx = mx.gpu(0) if mx.context.num_gpus() else mx.cpu()
net = gluon.nn.Dense(10, in_units=40)
net.initialize(ctx=ctx)
net.hybridize()
loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "adam")
accuracy = mx.metric.Accuracy()
for _ in range(8):
    x = nd.random.uniform(shape=(64, 40), ctx=ctx)
    y = nd.floor(nd.random.uniform(0, 10, shape=(64,), ctx=ctx))
    with autograd.record():
        out = net(x)
        loss = loss_fn(out, y)
    loss.backward()
    trainer.step(64)
    accuracy.update(y, out)  # expect: host-sync
print(accuracy.get())
