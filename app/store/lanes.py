"""Which row of the timeline an event belongs to, decided once a key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.views.timeline_data import Lane
from probes.trace.rows import Graph, Key

UNITS = {
    "call": "busy",
    "op": "ops",
    "hop": "transfers",
    "sync": "busy",
    "collective": "transfers",
    "node": "busy",
}
"""Kinds that have lanes, in the order they are shown, with the unit of their bins."""


def lane_of(kind: str, fields: Mapping[str, Any], graphs: Mapping[int, Graph], process: str) -> Lane | None:
    """The lane of a key; None for kinds that are drawn elsewhere (memory, marks).

    `process` is '' in a run of one process; only calls are kept apart by process, devices carry it in
    their names already.
    """
    if kind == "call":
        graph = graphs.get(fields.get("graph") or 0)
        label = (graph.name if graph else "") or fields.get("function") or "call"
        return Lane(f"call|{process}|{label}", label, "call", None, process)
    if kind in ("op", "sync", "node"):
        device = fields.get("device") or ("all devices" if kind == "sync" else "?")
        return Lane(f"{kind}|{device}", device, kind, fields.get("device") or None)
    if kind == "hop":
        src, dst = fields.get("src") or "?", fields.get("dst") or "?"
        return Lane(f"hop|{src}|{dst}", f"{src} → {dst}", "hop", dst)
    if kind == "collective":
        label = fields.get("op") or "collective"
        return Lane(f"collective|{label}", label, "collective")
    return None


def bar_label(key: Key, node_name: str | None = None) -> str:
    """What a bar of this key says."""
    fields = key.fields
    if key.kind == "hop":
        return str(fields.get("tensor") or fields.get("op") or "transfer")
    if key.kind == "sync":
        return str(fields.get("kind") or "sync")
    if key.kind == "node":
        return node_name or f"node {fields.get('node')}"
    return str(fields.get("op") or fields.get("function") or fields.get("name") or key.kind)


class LaneTable:
    """The lanes of a run's keys while it grows."""

    def __init__(self) -> None:
        self._numbers: dict[Lane, int] = {}
        self.of_key: dict[int, Lane] = {}
        """By key id; keys that are drawn elsewhere have none."""

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """All of them, each at the place that is its number."""
        return tuple(self._numbers)

    def numbers(self) -> dict[int, int]:
        """Key id -> its lane's number."""
        return {key: self._numbers[lane] for key, lane in self.of_key.items()}

    def add(self, keys: Iterable[Key], graphs: Mapping[int, Graph], processes: Mapping[int, str]) -> None:
        """Take in a run's keys as they are now; `processes` are the names by index, where they are told."""
        of_key = {}
        for key in keys:
            lane = lane_of(key.kind, key.fields, graphs, processes.get(key.id >> 32, ""))
            if lane is not None:
                # A lane keeps its number for good: another thread's question may be under way.
                self._numbers.setdefault(lane, len(self._numbers))
                of_key[key.id] = lane
        self.of_key = of_key


def lane_order(lane: Lane) -> tuple[int, str, int, str]:
    """Sort key: calls first, then by kind; within a kind by device type and ordinal."""
    kinds = list(UNITS)
    head, _, ordinal = lane.label.rpartition(":")
    number = int(ordinal) if ordinal.isdigit() else 0
    return (kinds.index(lane.kind) if lane.kind in kinds else len(kinds), head, number, lane.id)
