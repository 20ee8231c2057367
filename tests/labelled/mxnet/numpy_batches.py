"""A generator makes each batch from numpy and sends it to the device.

https://github.com/apache/mxnet/issues/7899

"numpy array to mxnet ndarray is too slow": every step starts with sending its own data. An expert would
note the line in the generator, and load batches ahead of time.
"""

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon
from mxnet.gluon import nn

ctx = mx.cpu(1)
images = np.random.RandomState(0).rand(256, 3, 32, 32).astype("float32")
labels = np.random.RandomState(1).randint(0, 10, 256)


def batches(size):
    for start in range(0, len(images), size):
        yield (
            mx.nd.array(images[start : start + size], ctx=ctx),  # expect: info host-upload
            mx.nd.array(labels[start : start + size], ctx=ctx),  # expect: info host-upload
        )


net = nn.HybridSequential()
net.add(nn.Conv2D(8, 3, activation="relu"), nn.Flatten(), nn.Dense(10))
net.initialize(ctx=ctx)
net.hybridize()
loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
for data, label in batches(32):
    with autograd.record():
        loss = loss_fn(net(data), label)
    loss.backward()
    trainer.step(32)
mx.nd.waitall()
