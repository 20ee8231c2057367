"""A network too large for one card is split by `ctx_group`.

https://github.com/apache/mxnet/issues/1639

The first layers go to one device, the last to the other, as the code says: activations cross where the
second group begins. An expert would call that the price of the split, and note the line.
"""

import mxnet as mx

with mx.AttrScope(ctx_group="dev1"):
    data = mx.sym.Variable("data")
    fc1 = mx.sym.FullyConnected(data, num_hidden=128, name="fc1")
    act1 = mx.sym.Activation(fc1, act_type="relu", name="act1")
with mx.AttrScope(ctx_group="dev2"):
    fc2 = mx.sym.FullyConnected(act1, num_hidden=10, name="fc2")  # expect: info explicit
    out = mx.sym.SoftmaxOutput(fc2, name="softmax")

group2ctx = {"dev1": mx.cpu(1), "dev2": mx.cpu(2)}
exe = out.simple_bind(ctx=mx.cpu(1), group2ctx=group2ctx, data=(32, 50), softmax_label=(32,))
init = mx.init.Xavier()
for name, array in exe.arg_dict.items():
    if name.endswith(("weight", "bias")):
        init(mx.init.InitDesc(name), array)
sgd = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.05))

for step in range(8):
    exe.arg_dict["data"][:] = mx.nd.random.uniform(shape=(32, 50), ctx=mx.cpu(1))
    exe.forward(is_train=True)
    exe.backward()
    for index, name in enumerate(out.list_arguments()):
        if name.endswith(("weight", "bias")):
            sgd(index, exe.grad_dict[name], exe.arg_dict[name])
print(exe.outputs[0].asnumpy().sum())
