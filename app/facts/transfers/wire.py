"""What collectives move between devices beside the hops, shared out over the pairs that exchange it."""

from __future__ import annotations

_KINDS = {
    "CollectiveReduce": "all-reduce",
    "CollectiveReduceV2": "all-reduce",
    "CollectiveReduceV3": "all-reduce",
    "CollectiveGather": "all-gather",
    "CollectiveGatherV2": "all-gather",
    "CollectiveBcast": "broadcast",
    "CollectiveReduceScatterV2": "reduce-scatter",
    "CollectiveAllToAllV2": "all-to-all",
    "CollectiveAllToAllV3": "all-to-all",
}
"""Ops that send by themselves; what other reductions copy are ordinary hops, counted there."""
_KERNELS = {
    "AllReduce": ("NcclAllReduce",),
    "CollectiveBcast": (
        "CollectiveBcastSend",
        "CollectiveBcastSendV2",
        "CollectiveBcastRecv",
        "CollectiveBcastRecvV2",
    ),
}
"""The ops in a graph of a collective that is told by another name."""
TREE = "tree"
"""The algorithm of a broadcast."""

Pair = tuple[str, str]


def beside_hops(op: str, algorithm: str) -> bool:
    """Whether a collective's bytes appear in no hop."""
    return op in _KINDS or algorithm == "nccl"


def kernels(op: str) -> tuple[str, ...]:
    """The types that the nodes of a collective have in a graph."""
    return _KERNELS.get(op, (op,))


def kind(op: str) -> str:
    """What people call it: ``all-reduce``."""
    return _KINDS.get(op) or ("all-reduce" if "Reduce" in op else op)


def shares(devices: tuple[str, ...], wire_bytes: int | None, algorithm: str = "") -> dict[Pair, int | None]:
    """Bytes from device to device: the parts add up to all. Empty for one device.

    Around the ring, which goes one way, or from each to two others down a tree. The order is that of the
    devices, an assumption like the bytes.
    """
    number = len(devices)
    if number < 2:
        return {}
    if algorithm == TREE:
        pairs = [(devices[(index - 1) // 2], devices[index]) for index in range(1, number)]
    else:
        pairs = list(zip(devices, (*devices[1:], devices[0]), strict=True))
    if wire_bytes is None:
        return dict.fromkeys(pairs)
    part, rest = divmod(wire_bytes, len(pairs))
    return {pair: part + (index < rest) for index, pair in enumerate(pairs)}
