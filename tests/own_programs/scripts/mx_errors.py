"""Errors of MXNet: eager ops, shapes, symbols, executors, gluon blocks, contexts, arrays, asynchronous ones."""

# frameworks: mxnet
# quick: mxnet
import re
import sys
import traceback

import mxnet as mx
from mxnet import autograd, gluon, nd


def attempt(function):
    try:
        function()
    except Exception:
        # MXNet's own stack of C++ holds addresses.
        print(re.sub(r"\[bt\].*\n?", "", traceback.format_exc()), file=sys.stderr)


a, b = nd.ones((2, 3)), nd.ones((4, 5))
attempt(lambda: nd.dot(a, b))
attempt(lambda: a + b)
attempt(lambda: a.reshape((7, 7)))
attempt(lambda: nd.Convolution(a, num_filter=1))
attempt(lambda: a.asscalar())
attempt(lambda: a[7])
attempt(lambda: nd.array([[1], [1, 2]]))
attempt(lambda: nd.ones((2,), ctx=mx.gpu(0)).asnumpy())
attempt(lambda: a.copyto(b))
attempt(lambda: a.as_in_context(mx.gpu(5)))
attempt(lambda: mx.np.matmul(mx.np.ones((2, 3)), mx.np.ones((2, 3))))
attempt(lambda: mx.np.ones((2, 3)).reshape(5))
x = mx.sym.Variable("x")
attempt(lambda: mx.sym.FullyConnected(x, num_hidden=2).bind(mx.cpu(), {"x": a}))
attempt(lambda: mx.sym.FullyConnected(x).simple_bind(mx.cpu(), x=(2, 2)))
attempt(lambda: mx.sym.dot(x, x).simple_bind(mx.cpu(), x=(2, 3)))
attempt(lambda: a.backward())
net = gluon.nn.Dense(3, in_units=9)
net.initialize()
attempt(lambda: net(a))
net.hybridize()
attempt(lambda: net(a))
attempt(lambda: gluon.Trainer(net.collect_params(), "none of these"))
attempt(lambda: gluon.Trainer(net.collect_params(), "sgd").step(1))
attempt(lambda: gluon.nn.Dense(2)(a))
store = mx.kv.create("local")
attempt(lambda: store.push("missing", a))
store.init("w", a)
attempt(lambda: store.push("w", b))
attempt(lambda: mx.kv.create("nothing"))


def recorded():
    a.attach_grad()
    with autograd.record():
        y = nd.dot(a, b)
    y.backward()


attempt(recorded)
attempt(lambda: nd.Custom(a, op_type="missing"))
attempt(lambda: mx.mod.Module(x).bind([("x", (2, 2))]))
attempt(lambda: mx.nd.load("missing"))
print(re.sub("x", "x", "end"))
