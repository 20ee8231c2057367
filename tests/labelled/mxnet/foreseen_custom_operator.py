"""An operator of one's own computes in numpy, on a card that this machine need not have.

https://github.com/apache/mxnet/issues/8884

case: preflight

An expert: the operator runs on a card as well, but its lines that take values wait for the card in each pass.
"""

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd


class Clip(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0].asnumpy()  # expect: host-sync
        self.assign(out_data[0], req[0], mx.nd.array(np.clip(x, -1, 1)))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * (nd.abs(in_data[0]) < 1))


@mx.operator.register("clip_numpy")
class ClipProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Clip()


ctx = mx.gpu(0)
dense = gluon.nn.Dense(10, in_units=20)
dense.initialize(ctx=ctx)
trainer = gluon.Trainer(dense.collect_params(), "sgd", {"learning_rate": 0.1})
for _ in range(8):
    data = nd.random.uniform(shape=(32, 20), ctx=ctx)
    with autograd.record():
        loss = (nd.Custom(dense(data), op_type="clip_numpy") ** 2).mean()
    loss.backward()
    trainer.step(32)
