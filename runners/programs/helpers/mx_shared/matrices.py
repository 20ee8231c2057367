"""The square matrices that programs copy and multiply: their options, and how they are made."""

from __future__ import annotations

from typing import Any

from mx_shared import devices


def add_size(options: devices.Parser, default: int) -> None:
    """Add the option of the programs with matrices of one size."""
    options.add_argument(
        "--size",
        type=devices.positive,
        default=default,
        metavar="N",
        help=f"rows, and columns, of the matrices (default: {default})",
    )


def add_sizes(options: devices.Parser, default: str) -> None:
    """Add the option of the programs that try several sizes."""
    options.add_argument(
        "--sizes",
        type=devices.positive_list,
        default=default,
        metavar="N,M,..",
        help=f"rows, and columns, of the matrices (default: {default})",
    )


def make(size: int, context: Any) -> Any:
    """A matrix of random numbers on a context."""
    import mxnet as mx

    return mx.nd.random.uniform(shape=(size, size), ctx=context)
