"""Where Python waited for, or took, a device's value, by line."""

from __future__ import annotations

import dataclasses
from typing import Any

from app.analysis.tables import Tables
from probes.trace.rows import Key


@dataclasses.dataclass(frozen=True)
class Sync:
    """All syncs of one kind on one device at one line."""

    device: str
    kind: str
    site: str | None
    count: int
    wait_ns: int | None
    """How long Python stood still, all in all; None when no execution was timed."""
    copy_ns: int | None
    """The part of it that was copying; None where it can't be told from waiting."""
    basis: str
    """measured; estimated when only some of the executions were timed."""

    def row(self) -> dict[str, Any]:
        """The row as the report has it."""
        return dataclasses.asdict(self)


def sync_table(tables: Tables) -> list[Sync]:
    """One row a device, kind and line, the longest wait first."""
    groups: dict[tuple[str, str, str | None], list[Key]] = {}
    for key in tables.of_kind("sync"):
        fields = key.fields
        identity = (fields.get("device") or "", fields.get("kind") or "", tables.site(fields.get("loc")))
        groups.setdefault(identity, []).append(key)
    rows = [_sync(tables, identity, keys) for identity, keys in groups.items()]
    return sorted(rows, key=lambda row: (-(row.wait_ns or 0), -row.count, row.site or "", row.kind))


def _sync(tables: Tables, identity: tuple[str, str, str | None], keys: list[Key]) -> Sync:
    waits = [_wait(tables, key) for key in keys]
    known = [wait for wait, _ in waits if wait is not None]
    stated = {key.fields.get("basis") or "measured" for key in keys}
    basis = stated.pop() if len(stated) == 1 else "estimated"
    if not all(whole for _, whole in waits):
        basis = "estimated"
    count = sum(key.count or 0 for key in keys)
    return Sync(*identity, count, sum(known) if known else None, None, basis if known else "unknown")


def _wait(tables: Tables, key: Key) -> tuple[int | None, bool]:
    """Nanoseconds over all executions, and whether each was timed; the others are taken to be alike."""
    sums, count = tables.totals.get(key.id), key.count or 0
    if sums is None or not sums.timed:
        return None, count == 0
    if sums.timed >= count:
        return sums.dur_ns, True
    return round(sums.dur_ns * count / sums.timed), False
