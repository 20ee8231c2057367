"""Labels are sent to the device, only for the metric to take them back.

https://github.com/zackchase/mxnet-the-straight-dope/issues/541

The metric computes in numpy. Predictions must be taken for it, at the update; but the labels were in host
memory and went to the device and back for nothing. An expert would name the update, and the line that sends
the labels.
"""

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon import nn

ctx = mx.cpu(1)
net = nn.HybridSequential()
net.add(nn.Dense(64, activation="relu"), nn.Dense(10))
net.initialize(ctx=ctx)
net.hybridize()


def evaluate_accuracy(data_iterator, net):
    acc = mx.metric.Accuracy()
    for d, y in data_iterator:
        data = d.as_in_context(ctx)
        label = y.as_in_context(ctx)  # expect: bounce
        output = net(data)
        predictions = nd.argmax(output, axis=1)
        acc.update(preds=predictions, labels=label)  # expect: host-sync
    return acc.get()[1]


dataset = gluon.data.ArrayDataset(
    nd.random.uniform(shape=(640, 40)), nd.floor(nd.random.uniform(0, 10, shape=(640,)))
)
print(evaluate_accuracy(gluon.data.DataLoader(dataset, batch_size=32), net))
