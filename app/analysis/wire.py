"""What collectives move between devices beside the hops, shared out over pairs of neighbours."""

from __future__ import annotations

_OUTSIDE = ("CollectiveReduce", "CollectiveReduceV2", "CollectiveReduceV3")
"""Ops that send by themselves; what other reductions copy are ordinary hops, counted there."""
_KERNELS = {"AllReduce": "NcclAllReduce"}
"""The op in a graph of a reduction that was recorded by its Python name."""

Pair = tuple[str, str]


def beside_hops(op: str, algorithm: str) -> bool:
    """Whether a collective's bytes appear in no hop."""
    return op in _OUTSIDE or algorithm == "nccl"


def kernel(op: str) -> str:
    """The type that the nodes of a collective have in a graph."""
    return _KERNELS.get(op, op)


def kind(op: str) -> str:
    """What people call it: ``all-reduce``."""
    return "all-reduce" if "Reduce" in op else op


def shares(devices: tuple[str, ...], wire_bytes: int | None) -> dict[Pair, int | None]:
    """Bytes from each device to the next around the ring, which goes one way: the parts add up to all.

    The order of the ring is that of the devices, an assumption like the bytes. Empty for one device.
    """
    number = len(devices)
    if number < 2:
        return {}
    pairs = list(zip(devices, (*devices[1:], devices[0]), strict=True))
    if wire_bytes is None:
        return dict.fromkeys(pairs)
    part, rest = divmod(wire_bytes, number)
    return {pair: part + (index < rest) for index, pair in enumerate(pairs)}
