"""What the programs with Symbol and Module share: the network, the batches, the accuracy, the log."""

from __future__ import annotations

import logging
import sys
import warnings
from typing import Any

import numpy as np
from shared import digits


def network(width: int) -> Any:
    """A symbol: two hidden layers of `width` units, ten outputs, and their softmax with the loss's gradient.

    With tanh a rounded sum stays a rounded result. A ReLU whose input is next to zero may be on in one run
    and off in another, and makes a jump of it.
    """
    import mxnet as mx

    x = mx.sym.Variable("data")
    for number in (1, 2):
        x = mx.sym.FullyConnected(x, num_hidden=width, name=f"dense{number}")
        x = mx.sym.Activation(x, act_type="tanh", name=f"tanh{number}")
    x = mx.sym.FullyConnected(x, num_hidden=10, name="dense3")
    return mx.sym.SoftmaxOutput(x, name="softmax")


def batches(images: digits.Images, labels: digits.Labels, batch: int, steps: int, seed: int) -> Any:
    """An iterator over `steps` batches of the images, in an order that the seed alone decides."""
    import mxnet as mx

    np.random.seed(seed)  # NDArrayIter shuffles with numpy's generator
    once = mx.io.NDArrayIter(
        images, labels.astype(np.float32), batch, shuffle=True, last_batch_handle="discard"
    )
    return mx.io.ResizeIter(once, steps)


def accuracy(module: Any, images: digits.Images, labels: digits.Labels, batch: int) -> float:
    """The share of the images that the module tells right."""
    import mxnet as mx

    # Whole batches only: the last one is filled up with images seen before.
    rows = np.resize(np.arange(len(images)), -(-len(images) // batch) * batch)
    scores = module.predict(mx.io.NDArrayIter(images[rows], labels[rows].astype(np.float32), batch))
    return float(np.mean(scores.asnumpy().argmax(axis=1)[: len(images)] == labels))


def set_up_log() -> logging.Logger:
    """Send MXNet's log to standard output, and return the logger to give to a Module.

    Module.fit binds and initializes too. Where that is done already it leaves it, with a warning.
    """
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
    warnings.filterwarnings("ignore", message="Parameters already initialized")
    quiet = logging.getLogger("module")
    quiet.setLevel(logging.ERROR)
    return quiet
