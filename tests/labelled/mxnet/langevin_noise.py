"""An optimizer of one's own draws its noise without a context, and copies it to each weight.

https://github.com/apache/mxnet/issues/9605

MXNet's own SGLD passes ctx=weight.context. Without it the noise, as large as the model, is drawn on the host
and crosses in each step. An expert would name the draw.
"""

import math

import mxnet as mx
from mxnet import autograd, gluon, nd

CARD = mx.cpu(1)


@mx.optimizer.Optimizer.register
class Langevin(mx.optimizer.Optimizer):
    """Gradient descent with noise."""

    def create_state(self, index, weight):
        return None

    def update(self, index, weight, grad, state):
        self._update_count(index)
        rate = self._get_lr(index)
        spread = math.sqrt(rate) * 0.01
        noise = nd.random.normal(0, spread, shape=weight.shape)  # expect: default-device
        noise = noise.as_in_context(weight.context)
        weight[:] += noise - rate * self.rescale_grad * grad


net = gluon.nn.Dense(64, in_units=256)
net.initialize(ctx=CARD)
trainer = gluon.Trainer(net.collect_params(), "langevin", {"learning_rate": 0.01}, kvstore=None)
loss_of = gluon.loss.L2Loss()
x = nd.random.uniform(shape=(32, 256), ctx=CARD)
y = nd.random.uniform(shape=(32, 64), ctx=CARD)
for _ in range(12):
    with autograd.record():
        loss = loss_of(net(x), y).mean()
    loss.backward()
    trainer.step(1)
print(loss.asscalar())
