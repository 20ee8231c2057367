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


def latent(rows):
    return nd.random.normal(shape=(rows, 6))  # drawn by a function of the code's own


def batches():
    while True:
        yield nd.random.uniform(shape=shape)


def handed_in(data):
    data.as_in_context(one)  # handed in


def beside_the_model():
    batch = nd.random.normal(shape=shape)
    batch = batch * 2
    batch.as_in_context(one)  # a batch
    latent(8).as_in_context(one)
    handed_in(nd.random.uniform(shape=shape))
    latent(4).expand_dims(0).as_in_context(two)
    ahead = nd.ones(shape) * 0.9  # by another statement
    ahead = ahead.reshape((6, 8))
    ahead.as_in_context(one)
    filled = nd.random.uniform(shape=shape)  # for a buffer
    buffer[:] = filled
    next(made_up).as_in_context(one)  # from a generator
    shown = nd.random.normal(shape=shape)
    shown.as_in_context(one)  # and to Python
    shown.asnumpy()
    summed = nd.random.normal(shape=shape)
    summed.as_in_context(one)  # and summed here
    summed.sum()
    nd.random.normal(shape=shape)[:4].as_in_context(one)  # drawn, and a part of it sent
    part = nd.random.normal(shape=shape)
    part[:4].as_in_context(one)  # a part
    both = nd.random.normal(shape=shape)
    both.as_in_context(one)  # to the one
    both.as_in_context(two)  # to the other
    taken = nd.random.normal(shape=shape)
    here(taken)
    taken.as_in_context(one)  # and to a net here


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


made_up = batches()
here = gluon.nn.HybridSequential()
here.add(gluon.nn.Dense(2, in_units=6))
here.initialize()
here.hybridize()
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
