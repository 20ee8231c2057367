"""Copies that a loss depends on, and one that it does not: only the former have a copy back."""

import mxnet as mx
from mxnet import autograd, nd

one, two = mx.cpu(1), mx.cpu(2)
weight = nd.ones((3, 4), ctx=one)
head = nd.ones((4, 2), ctx=two)
weight.attach_grad()
head.attach_grad()
data = nd.ones((5, 3), ctx=one)

for _ in range(4):
    with autograd.record():
        hidden = nd.relu(nd.dot(data, weight))
        crossed = hidden.as_in_context(two)  # copied there and its gradient back
        shown = hidden.as_in_context(two)  # copied there, no gradient
        targets = data.as_in_context(two)  # data: no gradient
        loss = nd.dot(crossed, head).sum() + targets.sum()
    loss.backward()  # backward
assert float(weight.grad.sum().asscalar()) == 120.0
