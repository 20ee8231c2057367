"""The most memory that each device held."""

from __future__ import annotations

import dataclasses
from typing import Any

from app.facts.devices import is_host
from app.facts.placement import op_table
from app.facts.tables import Tables

UNUSED = "nothing ran there"
_ORDER = ("measured", "sampled", "estimated", "inferred")


@dataclasses.dataclass(frozen=True)
class Memory:
    """One device's peak."""

    device: str
    peak_bytes: int | None
    """None when the device can't tell."""
    basis: str
    why: str
    """For an estimate how, for unsupported why."""

    def row(self) -> dict[str, Any]:
        """The row as the report has it."""
        return dataclasses.asdict(self)


def memory_table(tables: Tables) -> list[Memory]:
    """One row a device of the run; a device of which nothing was told is `unsupported`."""
    best: dict[str, Memory] = {}
    for key in tables.of_kind("memory"):
        fields, sums = key.fields, tables.totals.get(key.id)
        device, basis = fields.get("device") or "", fields.get("basis") or "unknown"
        peak = None if sums is None or basis == "unsupported" else sums.max_value
        row = Memory(device, peak, basis if peak is not None else "unsupported", fields.get("why") or "")
        known = best.get(device)
        if known is None or _better(row, known):
            best[device] = row
    nothing = "nothing told this device's memory"
    rows = [best.get(device, Memory(device, None, "unsupported", nothing)) for device in tables.devices]
    if tables.unseen or all(row.peak_bytes is not None or is_host(row.device) for row in rows):
        return rows
    ran = {op.assigned for op in op_table(tables)}
    used = ran | _touched(tables)
    return [
        dataclasses.replace(row, why=UNUSED)
        if ran and row.peak_bytes is None and not is_host(row.device) and row.device not in used
        else row
        for row in rows
    ]


def _touched(tables: Tables) -> set[str]:
    """The devices that something was copied to or from, waited for, or exchanged with."""
    found: set[str] = set()
    for key in tables.keys:
        if key.kind != "memory" and key.count != 0:
            found.update(str(key.fields.get(end)) for end in ("device", "src", "dst"))
            found.update(map(str, key.fields.get("devices") or ()))
    return found


def _better(row: Memory, known: Memory) -> bool:
    """The firmer basis wins, then the higher peak."""
    firmness = [_ORDER.index(item.basis) if item.basis in _ORDER else len(_ORDER) for item in (row, known)]
    if firmness[0] != firmness[1]:
        return firmness[0] < firmness[1]
    return (row.peak_bytes or 0) > (known.peak_bytes or 0)
