"""Variables that live on the host and are copied to cards: for the model while autograd records, and else."""

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd

host, one, two = mx.cpu(0), mx.cpu(1), mx.cpu(2)
weight = nd.random.normal(scale=0.1, shape=(64, 32))
bias = nd.zeros((4,))
for own in (weight, bias):
    own.attach_grad()
params = gluon.ParameterDict("p_")
table = params.get("table", shape=(100, 64))
shared = params.get("shared", shape=(64, 64))
frozen = params.get("frozen", shape=(100, 64), grad_req="null")
params.initialize(ctx=host)
follows = gluon.nn.Dense(64, in_units=64)
follows.initialize(ctx=one)
trainer = gluon.Trainer({known.name: known for known in (table, shared)}, "sgd", {"learning_rate": 0.1})
ids = nd.arange(16, ctx=one)
shadow = nd.zeros((100, 64), ctx=one)

for _ in range(12):
    x = nd.array(np.random.rand(16, 64), ctx=host)
    x.attach_grad()
    for _ in range(2):
        with autograd.record():
            here = x.as_in_context(one)  # data
            rows = nd.take(table.data().copyto(one), ids)  # a parameter
            held = nd.take(frozen.data().as_in_context(one), ids)  # frozen
            seen = nd.dot(x, shared.data()).as_in_context(one)  # made of one
            halves = [shared.data().as_in_context(card) for card in (one, two)]  # for two cards
            loose = nd.dot(here, shared.data().detach().as_in_context(one))  # detached
            own = weight.as_in_context(one)  # made by hand
            small = bias.as_in_context(one)  # a few values
            loss = nd.dot(rows + held + here + seen + loose, own).sum() + small.sum() + halves[0].sum()
            loss = loss + halves[1].sum().as_in_context(one)
        loss.backward()
        x += 0.1 * nd.sign(x.grad)
    with autograd.record(), autograd.pause():
        table.data().as_in_context(one).mean()  # paused
    weight[:] = weight - 0.001 * weight.grad
    bias[:] = bias - 0.001 * bias.grad
    trainer.step(16)
    shadow[:] = 0.9 * shadow + 0.1 * table.data().as_in_context(one)  # for a shadow
    follows.weight.set_data(shared.data().as_in_context(one))  # for other weights
loss.asscalar()
