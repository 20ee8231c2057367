"""A custom operator computes its forward and backward pass in numpy.

https://github.com/apache/mxnet/issues/8884

Cards that wait for numpy do not run in parallel: each pass takes its inputs from the device and sends the
result back. An expert would name the lines that take the values, in the operator, not the line that calls
the network.
"""

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd


class Softmax(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0].asnumpy()  # expect: host-sync
        y = np.exp(x - x.max(axis=1).reshape((x.shape[0], 1)))
        y /= y.sum(axis=1).reshape((x.shape[0], 1))
        self.assign(out_data[0], req[0], mx.nd.array(y))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        label = in_data[1].asnumpy().ravel().astype(int)  # expect: host-sync
        y = out_data[0].asnumpy()  # expect: host-sync
        y[np.arange(label.shape[0]), label] -= 1.0
        self.assign(in_grad[0], req[0], mx.nd.array(y))


@mx.operator.register("softmax_numpy")
class SoftmaxProp(mx.operator.CustomOpProp):
    def __init__(self):
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, in_shape):
        return [in_shape[0], (in_shape[0][0],)], [in_shape[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        return Softmax()


ctx = mx.cpu(1)
dense = gluon.nn.Dense(10, in_units=50)
dense.initialize(ctx=ctx)
trainer = gluon.Trainer(dense.collect_params(), "sgd", {"learning_rate": 0.1})
for step in range(10):
    data = nd.random.uniform(shape=(32, 50), ctx=ctx)
    label = nd.floor(nd.random.uniform(0, 10, shape=(32,), ctx=ctx))
    with autograd.record():
        out = nd.Custom(dense(data), label, op_type="softmax_numpy")
    out.backward()
    trainer.step(32)
nd.waitall()
