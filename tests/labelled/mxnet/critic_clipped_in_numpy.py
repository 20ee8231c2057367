"""A Wasserstein critic's weights are fetched after each update, clamped in place by numpy and set again.

https://github.com/apache/mxnet/issues/5381

An expert: each parameter is waited for and copied in every iteration, and sent again, for what nd.clip would
do on the device. What comes back was changed on the host, so nothing went there and back for nothing.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

ctx = mx.cpu(1)
critic = gluon.nn.Sequential()
critic.add(gluon.nn.Dense(32, activation="relu", in_units=16), gluon.nn.Dense(1, in_units=32))
critic.initialize(mx.init.Xavier(), ctx=ctx)
trainer = gluon.Trainer(critic.collect_params(), "rmsprop", {"learning_rate": 5e-5})


def clamp(block, limit=0.01):
    for parameter in block.collect_params().values():
        weights = parameter.data(ctx).asnumpy()  # expect: host-sync
        weights.clip(-limit, limit, out=weights)
        parameter.set_data(nd.array(weights, ctx=ctx))  # may: host-upload


for _ in range(10):
    real = nd.random.normal(1, shape=(32, 16), ctx=ctx)
    fake = nd.random.normal(0, shape=(32, 16), ctx=ctx)
    with autograd.record():
        loss = critic(fake).mean() - critic(real).mean()
    loss.backward()
    trainer.step(1)
    clamp(critic)
