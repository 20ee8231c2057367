"""Code that has the cause `unbalanced`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="mxnet",
    about="Tables that all lie on the first of two GPUs.",
    before="""\
devices = [mx.gpu(0), mx.gpu(1)]
tables = [nd.zeros((8192, 4096), ctx=devices[0]) for _ in range(2)]
sums = [nd.zeros((4096,), ctx=gpu) for gpu in devices]
""",
    after="""\
devices = [mx.gpu(0), mx.gpu(1)]
tables = [nd.zeros((8192, 4096), ctx=gpu) for gpu in devices]
sums = [nd.zeros((4096,), ctx=gpu) for gpu in devices]
""",
)
