"""Operators written in Python, copies that are no mistake, and two trainers that one line applies."""

import mxnet as mx
from mxnet import autograd, gluon, nd

one = mx.cpu(1)


class Double(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        values = in_data[0].asnumpy()  # taken by an operator
        self.assign(out_data[0], req[0], nd.array(values * 2))  # given back

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * 2)  # on its device


@mx.operator.register("double")
class DoubleProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Double()


class Third(autograd.Function):
    def forward(self, x):
        return x / 3

    def backward(self, dy):
        return nd.array(dy.asnumpy() / 3, ctx=one)  # taken by a function


nets = [gluon.nn.Dense(4, in_units=4), gluon.nn.Dense(4, in_units=4)]
for net in nets:
    net.initialize(ctx=one)
trainers = [gluon.Trainer(net.collect_params(), "sgd") for net in nets]
for _ in range(6):
    x = nd.ones((2, 4), ctx=one)
    with autograd.record():
        middle = nd.Custom(nets[0](x), op_type="double")
        loss = Third()(nets[1](middle)).sum()
    middle.asnumpy()  # what an operator made
    loss.backward()
    for trainer in trainers:
        trainer.step(2)  # applied
    total = loss.asscalar()  # each step

target = nd.empty((4, 4), ctx=one)
weight = nets[0].weight.data(one)
weight.copyto(target)  # into one that is there
mx.npx.set_np()
same = mx.np.ones((4,), ctx=one).astype("float32")  # a type that it has
again = mx.np.ones((4,), ctx=one).copyto(one)  # where it is
nd.waitall()
