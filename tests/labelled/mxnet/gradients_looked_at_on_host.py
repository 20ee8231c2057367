"""A Trainer averages the gradients; now and then the host has a look at them and at the losses of all contexts.

https://github.com/apache/mxnet/issues/2722 asks how to "monitor the weight matrix and gradient".

An expert: nothing that matters: the kvstore exchanges the gradients, and every tenth step some of them are copied.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

CONTEXTS = [mx.cpu(1), mx.cpu(2)]
net = gluon.nn.Dense(4, in_units=24)
net.initialize(mx.init.Xavier(), ctx=CONTEXTS)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05}, kvstore="device")
history = []

for step in range(1, 21):
    losses = []
    for context in CONTEXTS:
        x = nd.random.normal(shape=(16, 24), ctx=context)
        with autograd.record():
            losses.append(nd.square(net(x)).mean())
    autograd.backward(losses)
    if step % 10 == 0:
        seen = [gradient.copyto(mx.cpu()) for gradient in net.weight.list_grad()]  # may: explicit
        apart = nd.abs(seen[0] - seen[1]).max()
        loss = nd.add_n(*[loss.as_in_context(mx.cpu()) for loss in losses])  # may: explicit
        history.append((step, apart, loss))
    trainer.step(32)  # may: collective
for step, apart, loss in history:
    print(step, apart.asscalar(), loss.asscalar())
