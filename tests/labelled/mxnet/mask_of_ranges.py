"""A model makes the mask of its attention from ranges, on the default context, in each forward pass.

https://github.com/apache/mxnet/issues/6333

Nothing of the mask depends on data: two ranges without `ctx` put it on the host, where it is compared and cast,
and the result is copied to the device each time. An expert would name the first line that makes an array, and
make both ranges on the context of the input.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

ctx = mx.cpu(1)
length, units = 24, 32


def causal_mask(length, ctx):
    rows = nd.arange(length).expand_dims(1)  # expect: default-device
    columns = nd.arange(length).expand_dims(0)  # may: default-device
    mask = nd.broadcast_lesser(rows, columns) * -1e9
    return mask.expand_dims(0).as_in_context(ctx)


class Attention(gluon.Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.qkv = gluon.nn.Dense(3 * units, flatten=False, in_units=units)
            self.out = gluon.nn.Dense(1, in_units=units)

    def forward(self, x):
        q, k, v = nd.split(self.qkv(x), num_outputs=3, axis=2)
        scores = nd.batch_dot(q, k, transpose_b=True) / units**0.5
        weights = nd.softmax(nd.broadcast_add(scores, causal_mask(x.shape[1], x.context)))
        return self.out(nd.batch_dot(weights, v).mean(axis=1))


net = Attention()
net.initialize(mx.init.Xavier(), ctx=ctx)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
l2 = gluon.loss.L2Loss()
net(nd.ones((2, length, units), ctx=ctx))  # a first look at the shapes, before any step

for step in range(8):
    x = nd.random.normal(shape=(16, length, units), ctx=ctx)
    with autograd.record():
        loss = l2(net(x), x.mean(axis=(1, 2)).reshape((-1, 1))).mean()
    loss.backward()
    trainer.step(16)
print(loss.asscalar())
