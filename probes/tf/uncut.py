"""A graph as it was before the runtime cut it into partitions, one a device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .placed_nodes import RECVS, SENDS, internal, pair_of

_CONTROL = "/ctrl/_"
"""In the names of what partitioning sends in the place of a control edge."""


def uncut(parts: list[Any], library: Any) -> Any:
    """One GraphDef of all partitions, each node on its device and joined to what was sent to it.

    Control edges are left out. `library` has the functions that nodes call.
    """
    from tensorflow.core.framework import graph_pb2

    whole = graph_pb2.GraphDef()
    whole.versions.CopyFrom(parts[0].versions)
    whole.library.CopyFrom(library)
    sent = {pair_of(node): node.input[0] for part in parts for node in part.node if node.op in SENDS}
    for part in parts:
        behind = {node.name: sent.get(pair_of(node), "") for node in part.node if node.op in RECVS}
        for node in part.node:
            if node.op in SENDS or node.op in RECVS or internal(node):
                continue
            inputs = [_joined(text, behind) for text in node.input if not text.startswith("^")]
            if any(_CONTROL in text for text in inputs):
                continue  # only a control edge comes in there
            copy = whole.node.add()
            copy.CopyFrom(node)
            del copy.input[:]
            copy.input.extend(inputs)
    return whole


def _joined(text: str, behind: Mapping[str, str]) -> str:
    """An input; what was sent in the place of what was received."""
    return behind.get(text.partition(":")[0], text)
