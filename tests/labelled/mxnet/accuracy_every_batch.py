"""The accuracy metric is updated after every batch.

https://github.com/apache/mxnet/issues/9571

The metric takes labels and predictions as numpy arrays, so each batch waits for the device before the next
is sent. An expert would point at the update: collect it on the device, or every so many batches.
"""

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon
from mxnet.gluon import nn

ctx = mx.cpu(1)
rng = np.random.RandomState(0)
dataset = gluon.data.ArrayDataset(rng.rand(320, 64).astype("float32"), rng.randint(0, 10, 320))
train_data = gluon.data.DataLoader(dataset, batch_size=32, shuffle=True)

net = nn.Sequential()
net.add(nn.Dense(64, activation="relu"), nn.Dense(10))
net.initialize(mx.init.Xavier(), ctx=ctx)
loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
metric = mx.metric.Accuracy()

for epoch in range(2):
    metric.reset()
    for data, label in train_data:
        data = data.as_in_context(ctx)
        label = label.as_in_context(ctx)
        with autograd.record():
            output = net(data)
            loss = loss_fn(output, label)
        loss.backward()
        trainer.step(data.shape[0])
        metric.update([label], [output])  # expect: host-sync
    print("epoch %d: %s %.3f" % (epoch, *metric.get()))
