"""Arrays computed in threads, scopes of autograd and contexts in each, exceptions in them."""

# frameworks: mxnet
import threading

import mxnet as mx
from mxnet import autograd, nd

results = {}


def work(n):
    with mx.Context(mx.cpu(n % 2)):
        w = nd.ones((2,)) * n
        w.attach_grad()
        for _ in range(50):
            with autograd.record():
                y = (w * w).sum()
            y.backward()
            w[:] = w - 0.01 * w.grad
        results[n] = (w.asnumpy().round(4).tolist(), str(w.context))


threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results.items()))


def fails():
    nd.ones((2, 2)).reshape((3, 3))


thread = threading.Thread(target=fails)
thread.start()
thread.join()
