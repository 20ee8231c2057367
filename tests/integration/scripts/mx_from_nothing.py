"""Arrays that are made on the host, with a context and without, and then copied to a card in each step."""

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd

one, two = mx.cpu(1), mx.cpu(2)
shape = (8, 6)
numbers = np.ones(shape, "float32")
buffer = nd.zeros(shape, ctx=one)
table = {}


def only_to_be_sent(where=None):
    nd.random.normal(shape=shape).as_in_context(one)  # drawn
    (
        nd.random.uniform(  # drawn over several lines
            shape=shape,
        )
        .clip(0.1, 0.9)
        .as_in_context(one)
    )
    nd.random.randn(8, 6).as_in_context(one)  # drawn by a function that hands a context on
    nd.ones(shape, ctx=where).copyto(one)  # with no context in an argument
    buffer[:] = nd.zeros(shape)  # assigned
    nd.ones(shape, ctx=mx.cpu()).as_in_context(one)  # with a context
    nd.ones(shape, mx.cpu()).as_in_context(one)  # with a context by its place
    with mx.cpu():
        nd.ones(shape).as_in_context(one)  # in a context
    nd.array(numbers).as_in_context(one)  # of numpy's data
    gluon.utils.split_and_load(nd.ones(shape), [one, two])  # cut for two


def beside_the_model():
    batch = nd.random.normal(shape=shape)
    batch = batch * 2
    batch.as_in_context(one)  # a batch


def in_the_model(x):
    rows = nd.arange(8).reshape((8, 1))  # a range
    grid = nd.broadcast_add(rows, nd.zeros(shape))
    there = grid.as_in_context(one)
    mask = nd.ones(shape)
    masked = x * mask
    masked.as_in_context(one)  # of data and of nothing
    mask.as_in_context(one)  # with a use here
    noise = nd.random.normal(shape=shape)
    noise.as_in_context(one)  # to one card
    noise.as_in_context(two)  # to another
    if not table:
        table["all"] = nd.arange(48).reshape(shape)
    table["all"][:5].as_in_context(one)  # a part of what was made once
    return there


net = gluon.nn.Dense(1, in_units=6)
net.initialize(ctx=one)
trainer = gluon.Trainer(net.collect_params(), "sgd")
for _ in range(6):
    only_to_be_sent()
    beside_the_model()
    with autograd.record():
        loss = net(in_the_model(nd.array(numbers))).sum()
    loss.backward()
    trainer.step(8)
loss.asscalar()
