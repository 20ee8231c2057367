"""The network is on the device and its input is not.

https://github.com/apache/mxnet/issues/13633

A hybridized network refuses: data is on cpu(0) while the weight is on the device. The program ends there.
An expert would name the call, and copy the data first.

case: exit=1
"""

import mxnet as mx
from mxnet import nd
from mxnet.gluon import nn

net = nn.HybridSequential()
net.add(nn.Conv2D(8, 3, in_channels=3, activation="relu"), nn.GlobalAvgPool2D(), nn.Flatten())
net.initialize(ctx=mx.cpu(1))
net.hybridize()

data = nd.random.uniform(shape=(4, 3, 32, 32))
features = net(data)  # expect: mixed-context
print(features.asnumpy().shape)
