"""A cell is repeated until it is sure enough, by contrib.while_loop; the loss is chosen by contrib.cond.

https://github.com/apache/mxnet/pull/11566 made while_loop, and https://github.com/apache/mxnet/pull/11760 cond:
called eagerly, both take their condition as a number of Python's.

An expert: that waits for the card before each turn, and once more for the choice. A fixed number of turns with
a mask, and nd.where for the loss, give the same numbers without a wait.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

CARD = mx.cpu(1)

mx.random.seed(3)
think, halt, head = (gluon.nn.Dense(units, in_units=32) for units in (32, 1, 1))
parameters = gluon.ParameterDict()
for layer in (think, halt, head):
    layer.initialize(mx.init.Xavier(), ctx=CARD)
    parameters.update(layer.collect_params())
trainer = gluon.Trainer(parameters, "sgd", {"learning_rate": 0.01})
batches = nd.random.normal(shape=(12, 16, 32), ctx=CARD)


def unsure(state, total):
    return total < 0.95


def turn(state, total):
    state = think(state).tanh()
    return state, (state, total + halt(state).sigmoid().mean())


for number in range(12):
    x = batches[number]
    with autograd.record():
        start = (x, nd.zeros((1,), ctx=CARD))
        _, (state, total) = nd.contrib.while_loop(unsure, turn, start, 4)  # expect: host-sync
        error = (head(state) - x.mean(axis=1, keepdims=True)).square().mean()
        loss = nd.contrib.cond(error > 1, lambda: error.log() + 1, lambda: error)  # expect: host-sync
        loss = loss + 0.01 * total
    loss.backward()
    trainer.step(16)
mx.nd.waitall()
