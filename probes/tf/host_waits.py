"""Which tensors in the host's memory wait for another device's values, and by which line's transfer.

A loss that the host adds up of what two cards made lies on the host; who takes it waits for the cards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from ..trace.hop import is_host
from .marks import noted
from .names import short_device
from .placed_nodes import RESULTS, Node

Awaited = tuple[str, int]
"""(device, location of the transfer to the host)."""


def awaited_by(tensor: Any) -> Optional[Awaited]:
    """What a tensor of the host waits for; None for what the host has, or may have, by itself."""
    found: Optional[Awaited] = noted(tensor, "_hopscope_awaits")
    return found


def brought(tensor: Any, location: int) -> Optional[Awaited]:
    """The same of what an op on the host makes of a tensor that it has brought from elsewhere."""
    device = short_device(tensor.backing_device)
    return None if is_host(device) else (device, location)


class AwaitedResults:
    """Of one placed graph: the results that the host makes of what crosses to it within the graph."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        """`nodes` are all of the graph's by name."""
        self._nodes = nodes
        self._crossed: dict[str, Awaited] = {}
        self._takes: dict[str, list[str]] = {}

    def edge(self, producer: str, consumer: str) -> None:
        """A node takes what another one on its device made."""
        if is_host(self._nodes[consumer].device):
            self._takes.setdefault(consumer, []).append(producer)

    def hop(self, consumer: str, fields: Mapping[str, Any]) -> None:
        """A node takes what crossed to its device, with these fields."""
        if is_host(fields["dst"]) and not is_host(fields["src"]):
            self._crossed.setdefault(consumer, (fields["src"], fields["loc"]))

    def by_index(self) -> dict[int, Awaited]:
        """What each result waits for, by its place among the results; those that wait for nothing are out."""
        found = {}
        for name, node in self._nodes.items():
            if node.proto.op in RESULTS and is_host(node.device):
                awaited = self._behind(name)
                if awaited is not None:
                    found[node.proto.attr["index"].i] = awaited
        return found if self._crossed else {}

    def _behind(self, name: str) -> Optional[Awaited]:
        seen, waiting = {name}, [name]
        while waiting:
            node = waiting.pop()
            if node in self._crossed:
                return self._crossed[node]
            for producer in self._takes.get(node, ()):
                if producer not in seen:
                    seen.add(producer)
                    waiting.append(producer)
        return None


def mark_results(outputs: Sequence[Any], awaited: Mapping[int, Awaited]) -> None:
    """Note on what a call returned what it waits for."""
    for index, device in awaited.items():
        if index < len(outputs) and is_host(short_device(outputs[index].backing_device)):
            outputs[index]._hopscope_awaits = device
