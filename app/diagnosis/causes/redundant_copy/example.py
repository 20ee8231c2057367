"""Code that has the cause `redundant-copy`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="mxnet",
    about="Batches that lie on the GPU and are copied to it again.",
    before="""\
gpu = mx.gpu(0)
images = nd.random.normal(shape=(10, 32, 64), ctx=gpu)
net = gluon.nn.Dense(10)
net.initialize(ctx=gpu)
for batch in images:
    net(batch.copyto(gpu))  # <- redundant-copy
""",
    after="""\
gpu = mx.gpu(0)
images = nd.random.normal(shape=(10, 32, 64), ctx=gpu)
net = gluon.nn.Dense(10)
net.initialize(ctx=gpu)
for batch in images:
    net(batch.as_in_context(gpu))
""",
)
