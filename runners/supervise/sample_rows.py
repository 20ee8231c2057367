"""The rows of a run's samples.jsonl: what of a sampler's messages is kept, and how it is written.

A row is a JSON object a line: `t` (epoch seconds), `mono` (seconds of the monotonic clock, which the traces
go by), `full`, and of all else only what changed since the row before, as in the sampler's messages: `nvml`,
`gpus`, `host`, `run` (the run's own processes: `cpu_percent` of all cores, `memory_bytes`, `processes`),
`every` (seconds from one row to the next) and `unsampled` (why cards and host could not be sampled; null
where they were). A `full` row needs none before it. `lost` counts rows that found no room before this one.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection
from typing import Any

from probes.nvml.snapshot import HISTORY_FIELDS, HISTORY_HOST_FIELDS, Message, Snapshot, merge

SAMPLES_NAME = "samples.jsonl"
HZ = 1.0
FULL_EVERY = 60
"""Rows from one full one to the next: so many at most are lost with a damaged line."""
THIN_BYTES = 64 << 20
"""Each time so much has been written, rows become half as frequent: a run of weeks fills no disk."""

GPU_FIELDS = frozenset(HISTORY_FIELDS) | {
    "index",
    "uuid",
    "pci_bus_id",
    "name",
    "memory_total_bytes",
    "power_limit_watts",
    "energy_joules",
    "throttle_reasons",
    "unreadable",
}
HOST_FIELDS = frozenset(HISTORY_HOST_FIELDS) | {"cpu_cores", "memory_total_bytes"}
_TOP = ("driver", "nvml")

Row = dict[str, Any]


class Rows:
    """Writes the rows of one run, and counts what found no room."""

    def __init__(self, descriptor: int, uuids: Collection[str]) -> None:
        """`descriptor` is the file's, for appending; `uuids` are the cards to keep."""
        self._descriptor = descriptor
        self._uuids = uuids
        self._machine: Snapshot | None = None
        self._unsampled: str | None = "the sampler is starting"
        self._written: Row | None = None
        """All that rows have said, as a full row; None where the next row has to be full."""
        self._bytes = 0
        self._since_full = 0
        self._due = 0
        self._torn = False
        self.lost = 0
        """Rows that found no room since the last that did."""

    def take(self, message: Message) -> None:
        """Note what the sampler says."""
        self._machine = merge(self._machine, message)
        self._unsampled = None

    def miss(self, why: str) -> None:
        """Note that the sampler says nothing at the moment."""
        self._unsampled = why

    def add(self, t: float, mono: float, usage: dict[str, Any]) -> None:
        """Write a row of what is known now, unless rows are due more seldom; never raises."""
        every = 1 << (self._bytes // THIN_BYTES)
        self._due -= 1
        if self._due > 0:
            return
        self._due = every
        state = self._state(usage, every)
        row: Row = {"t": round(t, 3), "mono": round(mono, 3)}
        known = self._written if self._since_full < FULL_EVERY else None
        changes = None if known is None else _changes(known, state)
        row |= {"full": True, **state} if changes is None else changes
        if self.lost:
            row["lost"] = self.lost
        if self._write(json.dumps(row, separators=(",", ":")).encode() + b"\n"):
            self._since_full = 1 if "full" in row else self._since_full + 1
            self._written, self.lost = state, 0
        else:
            self.lost += 1
            self._written = None

    def _state(self, usage: dict[str, Any], every: int) -> Row:
        state: Row = {"every": every / HZ, "unsampled": self._unsampled, "gpus": [], "host": {}, "run": usage}
        if self._machine is not None and self._unsampled is None:
            state |= {key: self._machine[key] for key in _TOP if key in self._machine}
            state["gpus"] = [_of(GPU_FIELDS, gpu) for gpu in self._machine.get("gpus", ()) if self._kept(gpu)]
            state["host"] = _of(HOST_FIELDS, self._machine.get("host", {}))
        return state

    def _kept(self, gpu: dict[str, Any]) -> bool:
        uuid = gpu.get("uuid")
        return isinstance(uuid, str) and uuid in self._uuids

    def _write(self, line: bytes) -> bool:
        """Append a line whole or not at all."""
        data = b"\n" + line if self._torn else line
        done = 0
        try:
            while done < len(data):
                done += os.write(self._descriptor, data[done:])
        except OSError:
            if done:
                self._torn = True
                with contextlib.suppress(OSError):
                    os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - done)
                    self._torn = False
            return False
        self._torn = False
        self._bytes += len(data)
        return True


def _of(names: Collection[str], fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in names}


def _changes(before: Row, after: Row) -> Row | None:
    """Return what has to be said after `before`; None where only a full row can say it."""
    changes: Row = {}
    for key, value in after.items():
        if key == "gpus":
            if [gpu["index"] for gpu in before[key]] != [gpu["index"] for gpu in value]:
                return None
            pairs = zip(before[key], value, strict=True)
            news: Any = [{"index": new["index"], **part} for old, new in pairs if (part := _news(old, new))]
        elif key in ("host", "run"):
            if not before[key].keys() <= value.keys():
                return None
            news = _news(before[key], value)
        elif key in before and before[key] == value:
            continue
        else:
            changes[key] = value
            continue
        if news:
            changes[key] = news
    return changes if before.keys() <= after.keys() else None


def _news(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in new.items() if name not in old or old[name] != value}
