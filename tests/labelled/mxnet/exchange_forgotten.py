"""Two replicas trained by hand, each on its half of the batch, whose gradients nobody adds up.

https://d2l.ai/chapter_computational-performance/multiple-gpus.html adds them up between backward and update.

An expert: each card trains by itself, and the weights that began equal drift apart. The line that updates them.
"""

import mxnet as mx
from mxnet import autograd, nd

CARDS = [mx.cpu(1), mx.cpu(2)]
start = nd.random.normal(shape=(6, 1))
weights = [start.copyto(c) for c in CARDS]
for w in weights:
    w.attach_grad()
for step in range(16):
    x = nd.random.normal(shape=(20, 6))
    y = x.sum(axis=1, keepdims=True)
    with autograd.record():
        losses = []
        for i, (card, weight) in enumerate(zip(CARDS, weights)):
            half = slice(i * 10, i * 10 + 10)
            error = nd.dot(x[half].as_in_context(card), weight) - y[half].as_in_context(card)
            losses.append((error**2).mean())
    autograd.backward(losses)
    for w in weights:
        w[:] = w - 0.05 * w.grad  # expect: replica-drift
print([w.asnumpy().ravel() for w in weights])
