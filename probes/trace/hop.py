"""Creates the fields of a hop's key, the same for every framework's recorder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Optional

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


class HopProducer(NamedTuple):
    """Where a tensor comes from."""

    device: str
    op: str
    """Type of the op that created it."""
    loc: int = 0
    name: str = ""
    """Name of that op, or of a variable; '' for its type."""
    requested: str = ""
    memory: str = ""
    """Memory that it leaves; '' for the device's own, which is the host's where the device is the host."""


class HopConsumer(NamedTuple):
    """Where a tensor goes."""

    device: str
    op: str
    """Type of the op that takes it."""
    loc: int
    requested: str = ""
    forward_loc: int = 0
    names: Sequence[str] = ()
    """Names of the ops that take it; () for the type."""
    memory: str = ""
    """As the producer's."""


class HopTensor(NamedTuple):
    """What is transferred."""

    size: Optional[int]
    """Bytes of one transfer."""
    dtype: str
    shape: Sequence[int]
    basis: str = "estimated"


def hop_key(
    producer: HopProducer,
    consumer: HopConsumer,
    tensor: HopTensor,
    kind: str,
    *,
    graph: int = 0,
    facts: Optional[HopFacts] = None,
) -> HopFields:
    """Return all required fields; `kind` is copy, upload, pull or arg."""
    return {
        "src": producer.device,
        "dst": consumer.device,
        "src_memory": producer.memory or memory_of(producer.device),
        "dst_memory": consumer.memory or memory_of(consumer.device),
        "tensor": producer.name or f"{producer.op}:0",
        "op": consumer.op,
        "producer": producer.name or producer.op,
        "producer_op": producer.op,
        "consumers": list(consumer.names) or [consumer.op],
        "bytes": tensor.size,
        "dtype": tensor.dtype,
        "shape": "x".join(map(str, tensor.shape)),
        "loc": consumer.loc,
        "producer_loc": producer.loc,
        "forward_loc": consumer.forward_loc,
        "kind": kind,
        "basis": tensor.basis,
        "graph": graph,
        "per_call": None,
        "in": None,
        "requested": consumer.requested,
        "assigned": consumer.device,
        "producer_requested": producer.requested,
        "facts": facts or {},
    }


def is_host(device: str) -> bool:
    """Whether a short device name is the host, Python's and numpy's memory."""
    return device == HOST or device.endswith(_HOST_OF_ANOTHER)


def memory_of(device: str, on_host: bool = False) -> str:
    """Which memory of a device an endpoint is: its own, or the host's."""
    return "host" if on_host or is_host(device) else "device"
