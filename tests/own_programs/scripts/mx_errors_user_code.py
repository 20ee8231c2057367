"""Errors in the user's code that MXNet calls: custom ops, hybrid_forward, metrics, callbacks, datasets."""

# frameworks: mxnet
import re
import sys
import traceback

import mxnet as mx
from mxnet import autograd, gluon, nd


def attempt(function):
    try:
        function()
    except Exception:
        print(re.sub(r"\[bt\].*\n?", "", traceback.format_exc()), file=sys.stderr)


class Block(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        raise ValueError("in the block")


class Squared(autograd.Function):
    def forward(self, x):
        self.save_for_backward(x)
        return x * x

    def backward(self, dy):
        raise ValueError("in the gradient")


class Metric(mx.metric.EvalMetric):
    def update(self, labels, preds):
        raise ValueError("in the metric")


class Data(gluon.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, n):
        raise KeyError(n)


x = nd.ones((2, 2))
attempt(lambda: Block()(x))
hybrid = Block()
hybrid.hybridize()
attempt(lambda: hybrid(x))
attempt(lambda: Metric("m").update([x], [x]))
attempt(lambda: list(gluon.data.DataLoader(Data(), 2)))
data = mx.io.NDArrayIter(nd.ones((8, 2)), nd.ones((8,)), 2)
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2), name="softmax")


def callback(param):
    raise RuntimeError("in the callback")


attempt(lambda: mx.mod.Module(net).fit(data, num_epoch=1, batch_end_callback=callback))
attempt(lambda: mx.mod.Module(net).fit(data, num_epoch=1, eval_metric=Metric("m")))


class Failing(mx.optimizer.SGD):
    def update(self, index, weight, grad, state):
        raise ValueError("in the optimizer")


def trained():
    dense = gluon.nn.Dense(1)
    dense.initialize()
    trainer = gluon.Trainer(dense.collect_params(), Failing())
    with autograd.record():
        y = dense(x)
    y.backward()
    trainer.step(2)


attempt(trained)
