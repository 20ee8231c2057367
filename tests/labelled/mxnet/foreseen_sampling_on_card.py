"""Samples are drawn, masked and multiplied with a sparse matrix on a card, as in a recommender.

https://github.com/apache/mxnet/issues/13675: "GPU version of mxnet.ndarray.contrib.boolean_mask" was asked for, for
training was very slow without it.

case: preflight

An expert: it has had one since; normal and multinomial sampling and the product of a sparse with a dense matrix have
kernels for cards too. Nothing to warn of.
"""

import mxnet as mx
from mxnet import nd

ctx = mx.gpu(0)
mean = nd.zeros((64,), ctx=ctx)
deviation = nd.ones((64,), ctx=ctx)
items = nd.random.normal(shape=(100, 16), ctx=ctx)
seen = nd.sparse.csr_matrix(([1.0, 2.0, 1.0, 3.0], [3, 50, 7, 99], [0, 2, 4]), shape=(2, 100), ctx=ctx)
for _ in range(6):
    noise = nd.sample_normal(mean, deviation, shape=4)
    kept = nd.contrib.boolean_mask(noise, noise.mean(axis=1) > -5)
    drawn = nd.sample_multinomial(nd.softmax(kept))
    profile = nd.dot(seen, items)
    items = items * 0.99 + 0.001 * profile.mean() + 0.0 * drawn.astype("float32").mean()
nd.waitall()
