"""One card: a row that stays, whatever the card does."""

from __future__ import annotations

from typing import Any, Optional

from . import fields
from .calls import CardGone, Nvml
from .counters import Counters, PcieWatch
from .links import read_links
from .memory import read_memory
from .mig import read_mig
from .missing import is_missing, missing
from .processes import CardProcesses, People
from .xid import XidEvents

STEADY_S = 2.0
PROCESSES_S = 1.0
SELDOM_S = 10.0
LOST_S = 2.0
_EARLY = 0.05
"""Seconds by which something may come too soon, so that a period of whole ticks is not missed by a hair."""
_IDENTITY = ("uuid", "pci_bus_id", "name", "serial", "memory_total_bytes")
"""What stays true of a card that is lost, and tells people which one it is."""


class Card:
    """The card with one NVML index."""

    def __init__(self, nvml: Nvml, index: int, people: People, events: XidEvents, watch: PcieWatch) -> None:
        self.index = index
        self.handle: Any = None
        self.row: dict[str, Any] = {}
        self._nvml = nvml
        self._people = people
        self._events = events
        self._watch = watch
        self._due: dict[str, float] = {}
        self._begin()

    def read(self, now: float) -> dict[str, Any]:
        """Return all fields at `now`, seconds of the monotonic clock; the same row where none was asked."""
        if self.handle is None and not self._is_due("lost", LOST_S, now):
            return self.row
        try:
            if self.handle is None and not self._open():
                return self.row
            row = dict(self.row)
            self._read_into(row, now)
            row["unreadable"] = None
            self.row = row
        except CardGone as gone:
            self._lose(missing(gone.code))
        return self.row

    @property
    def lost_by(self) -> Optional[str]:
        """NVML's name of what keeps this card from being read; None where it is read."""
        unreadable: Any = self.row.get("unreadable")
        return str(unreadable["reason"]) if is_missing(unreadable) else None

    def _begin(self) -> None:
        self._counters = Counters()
        self._processes = CardProcesses(self._people)
        # When to look again for a lost card is not forgotten: each look at one may take the driver long.
        self._due = {"lost": self._due.get("lost", 0.0)}

    def _open(self) -> bool:
        known: Any = self.row.get("uuid")
        if isinstance(known, str):
            # Indices move up where a card was taken out: this row stays that of its own card.
            handle = self._nvml.ask("nvmlDeviceGetHandleByUUID", known)
        else:
            handle = self._nvml.ask("nvmlDeviceGetHandleByIndex", self.index)
        if is_missing(handle):
            self._lose(handle)
            return False
        self._begin()
        self.handle = handle
        self._events.register(self.index, handle)
        row: dict[str, Any] = {"index": self.index}
        # Where this fails, the row keeps what tells which card it is.
        fields.read(self._nvml, handle, fields.STATIC, row)
        self.row = row
        return True

    def _lose(self, why: dict[str, str]) -> None:
        self.handle = None
        self._watch.forget(self.index)
        known = {name: row for name in _IDENTITY if not is_missing(row := self.row.get(name, why))}
        xid = self._events.of(self.index)
        self.row = {
            "index": self.index,
            **dict.fromkeys(fields.ALL_NAMES, why),
            **known,
            "unreadable": why,
            "xid": why if is_missing(xid) else xid,
        }

    def _read_into(self, row: dict[str, Any], now: float) -> None:
        nvml, handle = self._nvml, self.handle
        fields.read(nvml, handle, fields.FAST, row)
        row.update(read_memory(nvml, handle))
        row.update(self._counters.read(nvml, handle, now))
        if self._counters.pcie_by_watching:
            row.update(self._watch.rates(self.index, handle))
        if self._is_due("steady", STEADY_S, now):
            fields.read(nvml, handle, fields.STEADY, row)
        if self._is_due("seldom", SELDOM_S, now):
            fields.read(nvml, handle, fields.SELDOM, row)
            # What is asked for once may have failed that once.
            fields.read(nvml, handle, fields.failed(fields.STATIC, row), row)
            mode = row["mig_mode"]
            row["mig"] = read_mig(nvml, handle) if mode == "on" else mode if is_missing(mode) else []
            row["nvlink"] = read_links(nvml, handle)
            row["nvlinks"] = row["nvlink"] if is_missing(row["nvlink"]) else len(row["nvlink"])
        if self._is_due("processes", PROCESSES_S, now):
            row["processes"] = self._processes.read(nvml, handle, now)
        row["xid"] = self._events.of(self.index)

    def _is_due(self, what: str, every_s: float, now: float) -> bool:
        if now < self._due.get(what, 0.0):
            return False
        self._due[what] = now + every_s - _EARLY
        return True
