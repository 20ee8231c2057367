"""Factors of a tensor are multiplied column by column on a card.

https://github.com/apache/mxnet/issues/10207: "khatri_rao doesn't have GPU version".

case: preflight

An expert: MXNet moves no op to the host; on a card the product raises, at its line. Nothing else does.
"""

import mxnet as mx
from mxnet import nd

ctx = mx.gpu(0)
a = nd.random.normal(shape=(8, 4), ctx=ctx)
b = nd.random.normal(shape=(6, 4), ctx=ctx)
for _ in range(6):
    design = nd.khatri_rao(a, b)  # expect: no-kernel
    a = a - 0.01 * nd.dot(nd.random.normal(shape=(8, 48), ctx=ctx), design)
nd.waitall()
