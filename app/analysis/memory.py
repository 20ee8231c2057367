"""The most memory that each device held."""

from __future__ import annotations

import dataclasses
from typing import Any

from app.analysis.tables import Tables

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
    return [best.get(device, Memory(device, None, "unsupported", nothing)) for device in tables.devices]


def _better(row: Memory, known: Memory) -> bool:
    """The firmer basis wins, then the higher peak."""
    firmness = [_ORDER.index(item.basis) if item.basis in _ORDER else len(_ORDER) for item in (row, known)]
    if firmness[0] != firmness[1]:
        return firmness[0] < firmness[1]
    return (row.peak_bytes or 0) > (known.peak_bytes or 0)
