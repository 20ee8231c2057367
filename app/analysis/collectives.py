"""All-reduces and their kin, apart from ordinary transfers."""

from __future__ import annotations

import dataclasses
from typing import Any

from app.analysis.devices import in_order
from app.analysis.tables import Tables


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


def collective_table(tables: Tables) -> list[Collective]:
    """Collectives in the order in which they were met; equal ones of several graphs are one row."""
    rows: dict[Collective, int | None] = {}
    for key in tables.of_kind("collective"):
        fields = key.fields
        tensors = fields.get("tensors")
        row = Collective(
            op=fields.get("op") or "collective",
            devices=tuple(in_order(fields.get("devices") or ())),
            tensors=tensors if isinstance(tensors, int) else None,
            payload_bytes=fields.get("payload_bytes"),
            wire_bytes=fields.get("wire_bytes"),
            algorithm=fields.get("algorithm") or "unknown",
            count=None,
            site=tables.site(fields.get("loc")),
            basis=fields.get("basis") or "unknown",
        )
        known = rows.get(row, 0)
        rows[row] = None if known is None or key.count is None else known + key.count
    return [dataclasses.replace(row, count=count) for row, count in rows.items()]
