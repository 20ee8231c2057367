"""Rows of a report's tables as texts with units, for the terminal and for HTML alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.analysis.syncs import ALL_DEVICES
from app.views import units

Row = tuple[str, ...]


def collective_rows(report: Mapping[str, Any]) -> list[Row]:
    """Op, devices, tensors, payload, on the wire, algorithm, count, site, basis."""
    return [
        (
            row["op"],
            ", ".join(row["devices"]),
            units.count(row["tensors"]),
            units.size(row["payload_bytes"]),
            units.size(row["wire_bytes"]),
            row["algorithm"],
            units.times(row["count"]),
            row["site"] or units.UNKNOWN,
            row["basis"],
        )
        for row in report["collectives"]
    ]


def sync_rows(report: Mapping[str, Any]) -> list[Row]:
    """Device, kind, site, count, waited, copied, basis."""
    return [
        (
            row["device"] or ALL_DEVICES,
            row["kind"],
            row["site"] or units.UNKNOWN,
            units.times(row["count"]),
            units.UNKNOWN if row["wait_ns"] is None else units.duration(row["wait_ns"] / 1e9),
            copied(row["wait_ns"], row["copy_ns"]),
            row["basis"],
        )
        for row in report["syncs"]
    ]


def copied(wait_ns: int | None, copy_ns: int | None) -> str:
    """The copying part of a standstill; where it was not told apart, the wait is all of it."""
    if copy_ns is not None:
        return units.duration(copy_ns / 1e9)
    return units.UNKNOWN if wait_ns is None else "in the wait"


def memory_rows(report: Mapping[str, Any]) -> list[Row]:
    """Device, peak, basis."""
    return [(row["device"], units.size(row["peak_bytes"]), row["basis"]) for row in report["memory"]]
