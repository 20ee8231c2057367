"""A decoder is run greedily for some tokens, then with a beam for fewer, each token taken to Python.

https://d2l.ai/chapter_computational-performance/async-computation.html: "frequent copying of small amounts of data
from MXNet's scope to NumPy" breaks the performance of code that is efficient otherwise.

An expert: both loops wait for the device once a token, whichever of them has more rounds; keep the tokens in arrays
until the end.
"""

import mxnet as mx
from mxnet import gluon, nd

ctx = mx.cpu(1)
embed = gluon.nn.Embedding(30, 16)
cell = gluon.rnn.GRUCell(16, input_size=16)
head = gluon.nn.Dense(30, in_units=16)
for block in (embed, cell, head):
    block.initialize(mx.init.Uniform(1), ctx=ctx)


def greedy(token, limit):
    state, words = cell.begin_state(1, ctx=ctx), []
    for _ in range(limit):
        out, state = cell(embed(token), state)
        token = head(out).argmax(axis=1)
        words.append(int(token.asscalar()))  # expect: host-sync
    return words


def beam(token, limit, width=3):
    state, best = cell.begin_state(width, ctx=ctx), []
    for _ in range(limit):
        out, state = cell(embed(token), state)
        values, token = nd.topk(nd.log_softmax(head(out)), k=1, ret_typ="both")
        token = token.reshape((-1,))
        best.append([array.asnumpy() for array in (values, token)])  # expect: host-sync
    return best


print(greedy(nd.ones((1,), ctx=ctx), 24), beam(nd.ones((3,), ctx=ctx), 15))
