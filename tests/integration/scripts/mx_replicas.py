"""Data parallel training on two contexts, with the kvstore that the first argument names, or none."""

import sys

import mxnet as mx
from mxnet import autograd, gluon, nd

store = None if sys.argv[1] == "none" else sys.argv[1]
contexts = [mx.cpu(1), mx.cpu(2)]
mx.random.seed(3)
net = gluon.nn.Sequential()
net.add(gluon.nn.Dense(16, activation="relu", in_units=8), gluon.nn.Dense(4, in_units=16))
net.initialize(ctx=contexts)
loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore=store)  # trainer
for _ in range(8):
    images, labels = nd.random.uniform(shape=(10, 8)), nd.zeros((10,))
    images = gluon.utils.split_and_load(images, contexts)
    labels = gluon.utils.split_and_load(labels, contexts)
    with autograd.record():
        losses = [loss_of(net(x), y) for x, y in zip(images, labels)]  # noqa: B905 - for Python 3.9
    for loss in losses:
        loss.backward()
    trainer.step(10)  # step
print(sum(loss.sum().asscalar() for loss in losses).hex())
