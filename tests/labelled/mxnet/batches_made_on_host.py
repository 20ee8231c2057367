"""Batches that a generator makes up on the host are copied to the device at the top of each step.

https://github.com/apache/mxnet/issues/9137

Nobody named a context for the made-up data: it is prepared on the host, as data is, with labels reckoned from
it there, and sent when a step needs it. So are parts of a set that was made once, and an array that stays. An
expert would find nothing to change.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

ctx = mx.cpu(1)
batch_size, features, steps = 32, 20, 12


def batches(number):
    for _ in range(number):
        x = nd.random.normal(shape=(batch_size, features))
        y = (x.sum(axis=1) > 0).astype("float32")
        yield x, y


def as_used(array):
    return array.expand_dims(0).as_in_context(ctx).reshape((-1, features))


net = gluon.nn.Sequential()
net.add(gluon.nn.Dense(32, activation="relu", in_units=features), gluon.nn.Dense(1, in_units=32))
net.initialize(ctx=ctx)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
bce, l2 = gluon.loss.SigmoidBinaryCrossEntropyLoss(), gluon.loss.L2Loss()
replay = nd.random.uniform(shape=(steps * batch_size, features))
start = nd.zeros((batch_size, 1)).as_in_context(ctx)

for step, (x, y) in enumerate(batches(steps)):
    part = replay[step * batch_size : (step + 1) * batch_size]
    x = x.as_in_context(ctx)
    with autograd.record():
        y = y.as_in_context(ctx)
        loss = bce(net(x) + start, y).mean() + 0.1 * l2(net(as_used(part)), start).mean()
    loss.backward()
    trainer.step(batch_size)
print(loss.asscalar())
