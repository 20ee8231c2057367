"""Creates the fields of a hop's key, the same for every framework's recorder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from .schema import HopFacts, HopFields

HOST = "cpu:0"
"""Python's and numpy's memory."""
_HOST_OF_ANOTHER = f"/{HOST}"
END_OF_DATA = "end-of-data check"
"""How a sync is called by which a library asks whether an input pipeline has another element."""
DISPATCH = "coordinator's dispatch"
"""How a sync is called by which a library's own thread waits for work that it gave to other processes."""
OWN_THREAD = "library's own thread"
"""How a sync is called that keeps nobody waiting but a thread that a library started by itself."""
LOGS = "Keras' own logs"
"""How a sync is called by which `fit` takes losses and metrics for its callbacks after each batch."""
GRADIENTS = "TensorFlow's own gradients"
"""How a sync is called by which TensorFlow's gradient of an op takes a value, a shape say."""
ON_BATCH = ("train_on_batch", "test_on_batch")
"""Keras' methods that take losses and metrics in each call of the code's own; the sync is called so."""
ASSERTION = "TensorFlow's assertion"
"""How a sync is called by which ``tf.debugging.assert_less`` and its kin decide in Python."""
IN_GRAPH = "numpy_function"
"""A Python function that a graph calls takes the values: the graph waits for it, not Python."""
HANDED_TO_OPERATOR = "Custom argument"
"""What stands for the unknown maker of an array that MXNet hands to an operator in Python."""
HANDED_TO_FUNCTION = "EagerPyFunc"
"""The same of a tensor that TensorFlow hands to a Python function."""
COPIED_BACK = "the backward pass of a copy"
"""What stands for the call of a copy that brings a gradient back to where MXNet's code copied from."""
MAKE_ROOM = frozenset({"_zeros", "zeros_like", "_npi_zeros"})
"""MXNet's ops that make room for gradients; who made the values tells the backward pass."""
LIBRARYS_OWN = frozenset({END_OF_DATA, DISPATCH, OWN_THREAD, LOGS, GRADIENTS})
"""Syncs that nobody who calls the library can leave out."""


def hop_key(
    src: str,
    dst: str,
    *,
    op: str,
    loc: int,
    producer_op: str,
    size: Optional[int],
    dtype: str,
    shape: Sequence[int],
    kind: str,
    producer: str = "",
    producer_loc: int = 0,
    forward_loc: int = 0,
    consumers: Sequence[str] = (),
    basis: str = "estimated",
    graph: int = 0,
    requested: str = "",
    producer_requested: str = "",
    facts: Optional[HopFacts] = None,
    src_memory: str = "",
    dst_memory: str = "",
) -> HopFields:
    """Return all required fields; `kind` is copy, upload, pull or arg, sizes are bytes of one transfer.

    An endpoint's memory is its own unless it is the host or said otherwise.
    """
    return {
        "src": src,
        "dst": dst,
        "src_memory": src_memory or memory_of(src),
        "dst_memory": dst_memory or memory_of(dst),
        "tensor": producer or f"{producer_op}:0",
        "op": op,
        "producer": producer or producer_op,
        "producer_op": producer_op,
        "consumers": list(consumers) or [op],
        "bytes": size,
        "dtype": dtype,
        "shape": "x".join(map(str, shape)),
        "loc": loc,
        "producer_loc": producer_loc,
        "forward_loc": forward_loc,
        "kind": kind,
        "basis": basis,
        "graph": graph,
        "per_call": None,
        "in": None,
        "requested": requested,
        "assigned": dst,
        "producer_requested": producer_requested,
        "facts": facts or {},
    }


def hop_fields(src: str, dst: str, **given: Any) -> dict[str, Any]:
    """Return the same as a plain dict, for readers, whose fields are open."""
    return {**hop_key(src, dst, **given)}


def is_host(device: str) -> bool:
    """Whether a short device name is the host, Python's and numpy's memory."""
    return device == HOST or device.endswith(_HOST_OF_ANOTHER)


def memory_of(device: str, on_host: bool = False) -> str:
    """Which memory of a device an endpoint is: its own, or the host's."""
    return "host" if on_host or is_host(device) else "device"
