"""All-reduces and their kin, apart from ordinary transfers; what several processes do together is one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from app.facts.basis import total, weakest
from app.facts.devices import in_order, parse
from app.facts.groups import grouped
from app.facts.tables import Tables
from probes.trace.rows import Key


@dataclasses.dataclass(frozen=True)
class Collective:
    """One collective at one line."""

    op: str
    devices: tuple[str, ...]
    tensors: int | None
    payload_bytes: int | None
    """Of one execution: what each device contributes."""
    wire_bytes: int | None
    """Of one execution: what the algorithm moves between devices; None where that is not known."""
    algorithm: str
    count: int | None
    site: str | None
    basis: str

    def row(self) -> dict[str, Any]:
        """The row as the report has it."""
        return {**dataclasses.asdict(self), "devices": list(self.devices)}


@dataclasses.dataclass(frozen=True)
class Joint:
    """One collective with the keys that its members' processes wrote of it."""

    keys: tuple[Key, ...]
    devices: tuple[str, ...]
    """All members; only those that were told of where others were not recorded."""
    count: int | None
    """Executions: each process counts them all, so they are not added up."""


def joint_collectives(tables: Tables) -> list[Joint]:
    """The collectives in the order in which they were met, each process's part of one put together."""
    parts = grouped((_identity(tables, key), key) for key in tables.of_kind("collective"))
    return [_joined(tables, keys) for keys in parts.values()]


def _identity(tables: Tables, key: Key) -> Any:
    """What the members' parts of one collective have in common; the key itself where it has no others."""
    fields = key.fields
    group = fields.get("group")
    if not group or (fields.get("members") or 0) <= len(fields.get("devices") or ()):
        return key.id
    names = ("op", "group", "members", "tensors", "payload_bytes", "algorithm")
    # An eager one has no instance that tells it apart from the group's others; its line does.
    line = tables.site(fields.get("loc")) if not fields.get("graph") else None
    return (*(fields.get(name) for name in names), line)


def _joined(tables: Tables, keys: Sequence[Key]) -> Joint:
    devices = {device for key in keys for device in key.fields.get("devices") or ()}
    members = keys[0].fields.get("members") or 0
    if members > len(devices):
        # Others were not recorded: who they are follows where the group is all devices of this type.
        types = {device.type for name in devices if (device := parse(name))}
        alike = {name for name in tables.own_devices if (device := parse(name)) and device.type in types}
        if len(alike) == members:
            devices = alike
    counts: dict[int, int | None] = {}
    for key in keys:
        counts[key.id >> 32] = total((counts.get(key.id >> 32, 0), key.count))
    known = [count for count in counts.values() if count is not None]
    count = max(known) if len(known) == len(counts) else None
    return Joint(tuple(keys), tuple(in_order(devices)), count)


def collective_table(tables: Tables) -> list[Collective]:
    """Collectives in the order in which they were met; equal ones of several graphs are one row."""
    rows: dict[Collective, int | None] = {}
    sampled: set[Collective] = set()
    for joint in joint_collectives(tables):
        fields = joint.keys[0].fields
        tensors = fields.get("tensors")
        row = Collective(
            op=fields.get("op") or "collective",
            devices=joint.devices,
            tensors=tensors if isinstance(tensors, int) else None,
            payload_bytes=fields.get("payload_bytes"),
            wire_bytes=fields.get("wire_bytes"),
            algorithm=fields.get("algorithm") or "unknown",
            count=None,
            site=tables.site(fields.get("loc")),
            basis=fields.get("basis") or "unknown",
        )
        if any(tables.is_sampled(key) for key in joint.keys):
            sampled.add(row)
        rows[row] = total((rows.get(row, 0), joint.count))
    return [
        dataclasses.replace(
            row, count=count, basis=weakest((row.basis, "sampled")) if row in sampled else row.basis
        )
        for row, count in rows.items()
    ]
