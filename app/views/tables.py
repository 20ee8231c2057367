"""Rows for tables: plain numbers, so that columns sort by value, and how each column is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from app.views import units
from app.views.placement_data import Group

Row = dict[str, Any]
Formats = dict[str, Callable[[Any], str]]


def _seconds(value: float | None) -> str:
    return units.duration(value)


HOP_FORMATS: Formats = {"bytes": units.size, "count": units.count, "total": units.size}
SYNC_FORMATS: Formats = {"count": units.count, "wait": _seconds, "copy": _seconds, "wait each": _seconds}
PLACEMENT_FORMATS: Formats = {"ops": units.count}
COLLECTIVE_FORMATS: Formats = {
    "count": units.count,
    "payload": units.size,
    "on the wire": units.size,
    "tensors": units.count,
}
MEMORY_FORMATS: Formats = {"peak": units.size}


def hop_rows(hops: Iterable[Mapping[str, Any]]) -> list[Row]:
    """The hop table from the report's hops: `bytes` of one transfer, `total` of the whole run.

    Unknown numbers are None. An endpoint in another memory than its device's own says so.
    """
    return [
        {
            "from": _endpoint(hop["src"], hop.get("src_memory")),
            "to": _endpoint(hop["dst"], hop.get("dst_memory")),
            "tensor": hop.get("tensor") or "",
            "op": hop.get("op") or "",
            "bytes": hop.get("bytes"),
            "count": hop.get("count"),
            "total": _product(hop.get("bytes"), hop.get("count")),
            "site": hop.get("site") or "",
            "cause": hop.get("cause") or "unknown",
            "basis": hop.get("basis") or "unknown",
        }
        for hop in hops
    ]


def sync_rows(syncs: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Where Python waited, from the report's syncs; times in seconds."""
    return [
        {
            "device": sync["device"],
            "kind": sync.get("kind") or "",
            "count": sync.get("count"),
            "wait": _from_ns(sync.get("wait_ns")),
            "copy": _from_ns(sync.get("copy_ns")),
            "wait each": _share(_from_ns(sync.get("wait_ns")), sync.get("count")),
            "site": sync.get("site") or "",
            "basis": sync.get("basis") or "unknown",
        }
        for sync in syncs
    ]


def placement_rows(ops: Iterable[Mapping[str, Any]]) -> list[Row]:
    """One row an op, as `report --ops` has them."""
    return [
        {
            "name": op.get("name") or "",
            "type": op.get("type") or op.get("op") or "",
            "requested": op.get("requested") or "",
            "assigned": op.get("assigned") or "",
            "site": op.get("site") or "",
        }
        for op in ops
    ]


def device_rows(
    placement: Iterable[Mapping[str, Any]], memory: Iterable[Mapping[str, Any]] = ()
) -> list[Row]:
    """One row a device: its distinct ops, its peak of memory and what that rests on."""
    peaks = {row["device"]: row for row in memory}
    return [
        {
            "device": row["device"],
            "ops": row.get("ops"),
            "peak": peaks.get(row["device"], {}).get("peak_bytes"),
            "basis": peaks.get(row["device"], {}).get("basis") or "unknown",
        }
        for row in placement
    ]


def collective_rows(collectives: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Gradient exchanges, from the report's collectives."""
    return [
        {
            "op": row.get("op") or "",
            "devices": ", ".join(row.get("devices") or ()),
            "tensors": _number(row.get("tensors")),
            "payload": row.get("payload_bytes"),
            "on the wire": row.get("wire_bytes"),
            "algorithm": row.get("algorithm") or "unknown",
            "count": row.get("count"),
            "site": row.get("site") or "",
            "basis": row.get("basis") or "unknown",
        }
        for row in collectives
    ]


def unseen_rows(unseen: Iterable[Mapping[str, Any]]) -> list[Row]:
    """What the recorder knows that it could not see."""
    return [
        {"what": row.get("what") or "", "count": row.get("count"), "why": row.get("why") or ""}
        for row in unseen
    ]


def member_rows(group: Group) -> list[Row]:
    """The ops of a group of the placement diagram (at most the 50 that it carries)."""
    return [
        {
            "name": member.name,
            "type": member.op,
            "requested": member.requested or "not requested",
            "assigned": member.assigned,
            "site": member.site or "",
            "forward site": member.forward_site or "",
        }
        for member in group.members
    ]


def formatted(rows: Sequence[Row], formats: Formats) -> list[dict[str, str]]:
    """The same rows with every number told with its unit."""
    return [
        {name: formats[name](value) if name in formats else str(value) for name, value in row.items()}
        for row in rows
    ]


def _endpoint(device: str, memory: str | None) -> str:
    kind = device.rpartition("/")[2].partition(":")[0]
    usual = "host" if kind == "cpu" else "device"
    return device if memory in (None, usual) else f"{device} ({memory} memory)"


def _product(size: int | None, count: int | None) -> int | None:
    return None if size is None or count is None else size * count


def _from_ns(value: int | None) -> float | None:
    return None if value is None else value / 1e9


def _share(total: float | None, count: int | None) -> float | None:
    return None if total is None or not count else total / count


def _number(tensors: Any) -> int | None:
    return len(tensors) if isinstance(tensors, list | tuple) else tensors
