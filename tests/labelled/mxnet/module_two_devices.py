"""A Module on two devices sums its gradients on them, without a metric.

https://github.com/apache/mxnet/issues/4968

With kvstore `device` speed grew with the number of cards. The gradients' exchange belongs to data
parallelism. An expert would find nothing to change: nothing is taken back in the loop.
"""

import mxnet as mx
import numpy as np

rng = np.random.RandomState(0)
X, Y = rng.rand(640, 50).astype("float32"), rng.randint(0, 10, 640)
train_iter = mx.io.NDArrayIter(X, Y, batch_size=64)

net = mx.sym.Variable("data")
net = mx.sym.FullyConnected(net, num_hidden=64, name="fc1")
net = mx.sym.Activation(net, act_type="relu")
net = mx.sym.FullyConnected(net, num_hidden=10, name="fc2")
net = mx.sym.SoftmaxOutput(net, name="softmax")

mod = mx.mod.Module(net, context=[mx.cpu(1), mx.cpu(2)])
mod.bind(data_shapes=train_iter.provide_data, label_shapes=train_iter.provide_label)
mod.init_params(mx.init.Xavier())
mod.init_optimizer(kvstore="device", optimizer="sgd", optimizer_params={"learning_rate": 0.1})
for epoch in range(2):
    train_iter.reset()
    for batch in train_iter:
        mod.forward_backward(batch)
        mod.update()  # expect: info collective
mx.nd.waitall()
