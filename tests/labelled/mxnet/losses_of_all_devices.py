"""The loss of every device is taken in a comprehension after each iteration.

https://github.com/apache/mxnet/issues/14210

The batch is copied to both devices, and because the losses are waited for at the end of each iteration, the
next copy can only start afterwards. An expert would name the line that takes the losses. Splitting the
batch is what the code means to do.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

devices = [mx.cpu(1), mx.cpu(2)]
net = nn.HybridSequential()
net.add(nn.Dense(128, activation="tanh"), nn.Dense(1))
net.initialize(ctx=devices)
net.hybridize()
l2 = gluon.loss.L2Loss()
trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 1e-3}, kvstore="device")


def send_data_to_gpus(batch):
    return gluon.utils.split_and_load(batch, devices)  # expect: info explicit


def train_iteration(data_on_gpus, label_on_gpus):
    with autograd.record():
        losses = [l2(net(x), y).mean() for x, y in zip(data_on_gpus, label_on_gpus)]
    autograd.backward(losses)
    trainer.step(1)  # expect: info collective
    return losses


history = []
for step in range(12):
    features = nd.random.uniform(shape=(64, 32))
    losses = train_iteration(send_data_to_gpus(features), send_data_to_gpus(features.sum(axis=1)))
    loss = sum([loss.asscalar() for loss in losses]) / len(losses)  # expect: host-sync
    history.append(loss)
print("first %.3f last %.3f" % (history[0], history[-1]))
