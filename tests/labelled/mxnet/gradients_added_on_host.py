"""Data parallel by hand: each context's gradient is copied to the host, added up there, and the mean copied back.

https://github.com/apache/mxnet/issues/1827: "What if I sum the gradients up first and update the weight once".

An expert: every gradient goes to host memory and back in each step, where a kvstore would add them up on a context.
"""

import mxnet as mx
from mxnet import autograd, nd

CONTEXTS = [mx.cpu(1), mx.cpu(2)]
weights = [nd.ones((32, 8), ctx=context) * 0.01 for context in CONTEXTS]
for weight in weights:
    weight.attach_grad()


def mean_on_host(gradients):
    total = gradients[0].as_in_context(mx.cpu())  # expect: reduce-on-host
    for gradient in gradients[1:]:
        total = total + gradient.as_in_context(mx.cpu())  # expect: reduce-on-host
    return total / len(gradients)


for step in range(10):
    for context, weight in zip(CONTEXTS, weights):
        x = nd.random.normal(shape=(16, 32), ctx=context)
        with autograd.record():
            loss = nd.square(nd.dot(x, weight) - 1).mean()
        loss.backward()
    mean = mean_on_host([weight.grad for weight in weights])
    for context, weight in zip(CONTEXTS, weights):
        weight[:] = weight - 0.1 * mean.as_in_context(context)  # expect: info explicit
nd.waitall()
