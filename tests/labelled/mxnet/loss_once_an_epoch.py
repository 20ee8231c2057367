"""The loss is summed on the device and taken when the epoch is over.

https://github.com/apache/mxnet/issues/10368

`asscalar` at the end seems to take seconds, but it only waits for what was sent: the epoch's work. An
expert would find nothing to change.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

ctx = mx.cpu(1)
net = nn.HybridSequential()
net.add(nn.Dense(64, activation="relu"), nn.Dense(10))
net.initialize(ctx=ctx)
net.hybridize()
loss = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
dataset = gluon.data.ArrayDataset(
    nd.random.uniform(shape=(320, 40)), nd.floor(nd.random.uniform(0, 10, shape=(320,)))
)
train_data = gluon.data.DataLoader(dataset, batch_size=32)

for epoch in range(3):
    train_loss = nd.array([0.0], ctx=ctx)
    for data, label in train_data:
        label = label.as_in_context(ctx)
        data = data.as_in_context(ctx)
        with autograd.record():
            output = net(data)
            loss_ = loss(output, label)
        loss_.backward()
        trainer.step(32, ignore_stale_grad=True)
        train_loss += nd.mean(loss_)
    train_loss = train_loss.asscalar()  # expect: info host-sync
    print("epoch", epoch, train_loss)
