"""A table of words stays on the host on purpose; what it makes is masked there and copied to the device.

https://github.com/apache/mxnet/issues/1716

The mask is made from nothing in each forward pass, without a context, but it is the host's rows that it masks:
on the device it would meet arrays of another context. Noise is drawn in a context that the code opens for the
host, to be the same on every machine. Both are as the code wants them.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

host, ctx = mx.cpu(0), mx.cpu(1)
words, width, length = 400, 16, 12


class Reader(gluon.Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.table = gluon.nn.Embedding(words, width)
            self.out = gluon.nn.Dense(2, in_units=length * width)

    def forward(self, text):
        keep = nd.ones((1, length, 1))
        keep[:, -2:] = 0
        rows = nd.broadcast_mul(self.table(text), keep)
        there = nd.broadcast_mul(rows.as_in_context(ctx), keep.as_in_context(ctx))
        with mx.cpu():
            noise = nd.random.normal(scale=0.01, shape=there.shape).as_in_context(ctx)
        return self.out(there + noise)


net = Reader()
net.table.initialize(ctx=host)
net.out.initialize(ctx=ctx)
first = gluon.Trainer(net.table.collect_params(), "sgd", {"learning_rate": 0.1})
second = gluon.Trainer(net.out.collect_params(), "sgd", {"learning_rate": 0.1})
entropy = gluon.loss.SoftmaxCrossEntropyLoss()
texts = nd.array([[(7 * i + j) % words for j in range(length)] for i in range(16)], ctx=host)
labels = nd.array([i % 2 for i in range(16)], ctx=ctx)

for _ in range(8):
    with autograd.record():
        loss = entropy(net(texts), labels).mean()
    loss.backward()
    first.step(1)
    second.step(1)
print(loss.asscalar())
