"""The training step of the Gluon workloads: a small residual network of many small ops, on one stand-in."""

# mypy: allow-subclassing-any

from collections.abc import Callable
from typing import Any

import mx_start
import mxnet as mx
from mxnet import autograd, gluon

BLOCKS = 4


class Block(gluon.nn.HybridBlock):
    """A residual block with a gate: two layers, and six small ops beside them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = gluon.nn.Dense(width, in_units=width)
        self.second = gluon.nn.Dense(width, in_units=width)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        gate = F.sigmoid(self.first(x))
        return x + gate * F.tanh(self.second(x)) * 0.5


def make_step(batch: int, width: int, *, hybrid: bool) -> Callable[[], None]:
    """One training step, op by op or with the network as one hybridized graph; it waits for its end."""
    mx_start.start_profiler_if_asked()
    mx.random.seed(0)
    device = mx.cpu(1)
    net = gluon.nn.HybridSequential()
    for _ in range(BLOCKS):
        net.add(Block(width))
    net.add(gluon.nn.Dense(10, in_units=width))
    net.initialize(mx.init.Xavier(), ctx=device)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    if hybrid:
        net.hybridize(static_alloc=True, static_shape=True)
        loss_of.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    images = mx.nd.random.normal(shape=(batch, width), ctx=device)
    labels = mx.nd.arange(batch, ctx=device) % 10

    def train_step() -> None:
        with autograd.record():
            loss = loss_of(net(images), labels)
        loss.backward()
        trainer.step(batch)
        mx.nd.waitall()

    return train_step
