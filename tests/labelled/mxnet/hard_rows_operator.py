"""An operator in Python picks the rows of the largest loss with numpy, in each step.

https://github.com/apache/mxnet/issues/8884: numpy in a custom operator keeps cards from working side by side.

An expert: the values go to the host and the mask comes back; nd.topk picks the rows on the card. The loop itself
goes on meanwhile: MXNet runs the operator in a thread of its own.
"""

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd

CARD = mx.cpu(1)


class HardRows(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        losses = in_data[0].asnumpy()  # expect: host-sync
        mask = (losses >= np.sort(losses)[-8]).astype("float32")
        self.assign(out_data[0], req[0], nd.array(mask, ctx=in_data[0].context))  # may: host-upload, explicit

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], nd.zeros_like(in_data[0]))


@mx.operator.register("hard_rows")
class HardRowsOperator(mx.operator.CustomOpProp):
    def __init__(self):
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ["losses"]

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        return HardRows()


rng = np.random.RandomState(0)
data = nd.array(rng.randn(12 * 128, 24), ctx=CARD)
target = nd.array(rng.randint(0, 5, 12 * 128), ctx=CARD)
net = gluon.nn.Dense(5, in_units=24)
net.initialize(mx.init.Xavier(), ctx=CARD)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
entropy = gluon.loss.SoftmaxCrossEntropyLoss()
for first in range(0, len(data), 128):
    x, y = data[first : first + 128], target[first : first + 128]
    with autograd.record():
        each = entropy(net(x), y)
        loss = (each * nd.Custom(each, op_type="hard_rows")).sum() / 8
    loss.backward()
    trainer.step(1)
nd.waitall()
