"""Collectives as arrows between a diagram's groups, also of the graphs of several processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.diagram.drawable_graph import Reduction
from app.facts.transfers import wire
from app.views.placement_data import Crossing


def collective_crossings(ends: Iterable[tuple[Reduction, Mapping[str, str]]]) -> list[Crossing]:
    """Arrows from each device's group to that of the next, in the order in which the algorithm goes.

    `ends`: collectives with the group on each device; those of one collective are put together.
    """
    groups: dict[tuple[int, ...], tuple[Reduction, dict[str, str]]] = {}
    for reduction, at in ends:
        identity = tuple(key.id for key in reduction.joint.keys)
        groups.setdefault(identity, (reduction, {}))[1].update(at)
    return [
        crossing
        for number, (reduction, at) in enumerate(groups.values())
        for crossing in _arrows(number, reduction, at)
    ]


def _arrows(number: int, reduction: Reduction, at: Mapping[str, str]) -> list[Crossing]:
    joint = reduction.joint
    fields, count = joint.keys[0].fields, joint.count
    algorithm = fields.get("algorithm") or "unknown"
    parts = wire.shares(joint.devices, fields.get("wire_bytes"), algorithm)
    moved = {pair: None if part is None or count is None else part * count for pair, part in parts.items()}
    return [
        Crossing(
            id=f"{at[src]}>{at[dst]}|collective {number}",
            src_group=at[src],
            dst_group=at[dst],
            src_device=src,
            dst_device=dst,
            bytes_total=size,
            count=count,
            hops=(),
            cause="collective",
            severity="info",
            tensors=(),
            bytes_known=size or 0,
            basis=fields.get("basis") or "unknown",
            collective=f"{wire.kind(fields['op'])} · {algorithm}",
            payload=fields.get("payload_bytes"),
            site=reduction.site,
        )
        for (src, dst), size in moved.items()
        if src in at and dst in at
    ]
