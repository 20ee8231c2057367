"""Arrays, a gradient that only autograd holds, a view, and a large array that is soon freed."""

import mxnet as mx

kept = mx.nd.ones((256, 1024), ctx=mx.cpu(1))
kept.attach_grad()
view = kept[10:20]
freed = mx.nd.zeros((1024, 1024), ctx=mx.cpu(1))
del freed
replaced = mx.nd.array([[0.5] * 64] * 64, ctx=mx.cpu(2))
for _ in range(300):
    replaced[:] = replaced * 2
twice = mx.nd.ones((1000,), ctx=mx.cpu(2))
for _ in range(3):
    twice.attach_grad()
mx.nd.waitall()
