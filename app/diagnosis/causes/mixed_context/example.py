"""Code that has the cause `mixed-context`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="mxnet",
    about="An input of the host with a weight of a GPU.",
    before="""\
w = nd.random.normal(shape=(64, 10), ctx=mx.gpu(0))
for _ in range(10):
    x = nd.random.normal(shape=(32, 64))
    y = nd.dot(x, w)  # <- mixed-context
""",
    after="""\
w = nd.random.normal(shape=(64, 10), ctx=mx.gpu(0))
for _ in range(10):
    x = nd.random.normal(shape=(32, 64), ctx=mx.gpu(0))
    y = nd.dot(x, w)
""",
)
