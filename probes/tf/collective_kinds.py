"""What TensorFlow's collective ops move between the members of their group, by how they are implemented.

They send by themselves, never through `_Send`/`_Recv`: their bytes follow from the tensor's size and the
algorithm (ring_reducer.cc, ring_gatherer.cc, hierarchical_tree_broadcaster.cc).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

BROADCAST = "CollectiveBcast"
"""Sender and receivers are ops of different types, but one collective."""


class Collective(NamedTuple):
    """One collective op of one member of the group."""

    op: str
    """Its type; `BROADCAST` for both ends of one."""
    members: Optional[int]
    """Devices in the whole group, other processes' too; None where the graph does not say."""
    group: str
    """Tells it apart from others, the same in all processes: ``key:instance``; '' where not known."""
    algorithm: str


_TWICE_AROUND = ("CollectiveReduce", "CollectiveReduceV2", "CollectiveReduceV3")
_GATHERS = ("CollectiveGather", "CollectiveGatherV2")
_BROADCASTS = (
    "CollectiveBcastSend",
    "CollectiveBcastRecv",
    "CollectiveBcastSendV2",
    "CollectiveBcastRecvV2",
)
_ONCE = ("CollectiveReduceScatterV2", "CollectiveAllToAllV2", "CollectiveAllToAllV3")
COLLECTIVES = frozenset((*_TWICE_AROUND, *_GATHERS, *_BROADCASTS, *_ONCE))
"""Types of the ops that move tensors among a group."""
_GROUP_INPUTS = frozenset(name for name in COLLECTIVES if name.endswith("V2"))


def kind_of(op: str) -> str:
    """The type under which an op is told: both ends of a broadcast are one."""
    return BROADCAST if op in _BROADCASTS else op


def receives(op: str) -> bool:
    """Whether its data comes out of it and nothing goes in."""
    return op.startswith("CollectiveBcastRecv")


def algorithm_of(op: str, hint: str) -> str:
    """What carries it out: NCCL where that is asked for, else a ring, or a tree for a broadcast."""
    if hint.lower() not in ("", "auto", "ring"):
        return hint.lower()
    return "tree" if op in _BROADCASTS else "ring"


def wire_bytes(op: str, payload: Optional[int], members: Optional[int]) -> Optional[int]:
    """Bytes that leave all devices together in one execution; `payload` is what each contributes."""
    if payload is None or not members:
        return None
    if op in _TWICE_AROUND:
        return 2 * (members - 1) * payload
    if op in _GATHERS:
        return members * (members - 1) * payload
    return (members - 1) * payload


def of_node(node: Any, constant: Any) -> Collective:
    """The collective that a node of a graph is; `constant(text)` is the number behind an input, or None."""
    op = node.op
    hint = node.attr["communication_hint"].s.decode() if "communication_hint" in node.attr else ""
    if "group_key" in node.attr:
        size, key, instance = (node.attr[name].i for name in ("group_size", "group_key", "instance_key"))
    elif op in _GROUP_INPUTS:
        data = [text for text in node.input if not text.startswith("^")]
        first = 0 if receives(op) else 1
        size, key, instance = (constant(text) for text in data[first : first + 3])
    else:
        size = key = instance = None
    group = "" if key is None or instance is None else f"{key}:{instance}"
    return Collective(kind_of(op), size, group, algorithm_of(op, hint))
