"""100,000 eager ops with gradients every so often."""

# frameworks: mxnet
from mxnet import autograd, nd

x = nd.zeros((1,))
one = nd.ones((1,))
for _ in range(100_000):
    x = x + one
print(x.asscalar())
w = nd.ones((2,))
w.attach_grad()
for _ in range(300):
    with autograd.record():
        y = (w * w).sum()
    y.backward()
    w -= 0.001 * w.grad
print(w.asnumpy().round(5))
