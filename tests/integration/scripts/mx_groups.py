"""A symbol over two contexts, trained and evaluated: the graph's copies, forward and backward."""

import mxnet as mx
import numpy as np

data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
with mx.AttrScope(ctx_group="first"):
    x = mx.sym.FullyConnected(data, num_hidden=8, name="fc1")
    x = mx.sym.Activation(x, act_type="relu", name="act1")
with mx.AttrScope(ctx_group="second"):
    x = mx.sym.FullyConnected(x, num_hidden=4, name="fc2")  # boundary
out = mx.sym.SoftmaxOutput(x, label, name="softmax")  # outputs
groups = {"first": mx.cpu(1), "second": mx.cpu(2)}
requests = {name: "null" if name in ("data", "softmax_label") else "write" for name in out.list_arguments()}
executor = out.simple_bind(mx.cpu(0), grad_req=requests, group2ctx=groups, data=(5, 6), softmax_label=(5,))
rng = np.random.RandomState(0)
for array in executor.arg_dict.values():
    array[:] = rng.standard_normal(array.shape)
for _ in range(7):
    executor.forward(is_train=True)
    executor.backward()  # backward
for _ in range(3):
    executor.forward(is_train=False)
print(executor.outputs[0].asnumpy().tobytes().hex())
