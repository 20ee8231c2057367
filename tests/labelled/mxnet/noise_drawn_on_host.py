"""A denoising autoencoder draws its noise on the default context and copies it, in the model and beside it.

https://github.com/apache/mxnet/issues/8794

`nd.random.normal` without `ctx` draws on the host, in each step, only for the numbers to go to the device. An
expert would draw them there: `ctx=x.context`. The weights of the noise name the host, so they are as asked.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

ctx = mx.cpu(1)
features, batch_size = 64, 32


class Denoiser(gluon.Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.encoder = gluon.nn.Dense(16, activation="relu", in_units=features)
            self.decoder = gluon.nn.Dense(features, in_units=16)

    def forward(self, x):
        noise = nd.random.normal(scale=0.1, shape=x.shape)  # expect: default-device
        x = x + noise.as_in_context(x.context)
        return self.decoder(self.encoder(x))


net = Denoiser()
net.initialize(mx.init.Xavier(), ctx=ctx)
trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
l2 = gluon.loss.L2Loss()
data = nd.random.uniform(shape=(10, batch_size, features), ctx=ctx)
dropped = nd.zeros((batch_size, features), ctx=ctx)

for x in data:
    dropped[:] = nd.random.uniform(shape=(batch_size, features))  # expect: default-device
    weight = (
        nd.random.exponential(1.0, shape=(batch_size, 1, 4), ctx=mx.cpu()).mean(axis=2).as_in_context(ctx)
    )
    with autograd.record():
        loss = l2(net(x * (dropped > 0.2)), x, weight).mean()
    loss.backward()
    trainer.step(batch_size)
print(loss.asscalar())
