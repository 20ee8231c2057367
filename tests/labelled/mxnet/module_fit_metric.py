"""Module.fit reports the training accuracy, its default metric.

https://github.com/apache/mxnet/issues/2204

In the issue 90 % of the time is spent in `asnumpy` below `metric.update`: fit waits for each batch to count
what was right. The user's line is the call of fit. The batch comes from a numpy iterator, so it is sent in
every step, too.
"""

import logging

import mxnet as mx
import numpy as np

logging.basicConfig(level=logging.INFO)
rng = np.random.RandomState(0)
X, Y = rng.rand(640, 50).astype("float32"), rng.randint(0, 10, 640)
train_iter = mx.io.NDArrayIter(X, Y, batch_size=64, shuffle=True)

net = mx.sym.Variable("data")
net = mx.sym.FullyConnected(net, num_hidden=64, name="fc1")
net = mx.sym.Activation(net, act_type="relu")
net = mx.sym.FullyConnected(net, num_hidden=10, name="fc2")
net = mx.sym.SoftmaxOutput(net, name="softmax")

mod = mx.mod.Module(net, context=mx.cpu(1))
mod.fit(train_iter, num_epoch=2, optimizer="sgd")  # expect: host-sync
