"""Code that has the cause `collective`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="mxnet",
    about="A Trainer that sums the gradients of two GPUs.",
    before="""\
devices = [mx.gpu(0), mx.gpu(1)]
net = gluon.nn.Dense(4, in_units=8)
net.initialize(ctx=devices)
trainer = gluon.Trainer(net.collect_params(), "sgd", kvstore="device")
for _ in range(10):
    batch = nd.random.normal(shape=(16, 8))
    parts = gluon.utils.split_and_load(batch, devices)
    with autograd.record():
        losses = [net(part).mean() for part in parts]
    autograd.backward(losses)
    trainer.step(16)  # <- collective
""",
)
