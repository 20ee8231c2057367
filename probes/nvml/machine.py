"""The whole machine, sampled: its driver, every card, how they are connected, and the host."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any, Optional

from .calls import DriverGone, NoNvml, Nvml, text_of, why_not
from .card import Card
from .counters import PcieWatch
from .host import Host
from .missing import UNKNOWN, absent, error_name, is_missing
from .processes import People
from .snapshot import Snapshot
from .topology import read_p2p, read_topology
from .xid import XidEvents

RETRY_S = 5.0
"""How often to look again for a driver that is not there."""
_NOT_THERE = absent("there is no driver to ask")
_NOT_ASKED = {"state": "not-asked", "reason": "no GPU was to be read", "text": "no GPU was to be read"}


class Machine:
    """What `read` tells at each call; it never raises for what the driver does."""

    def __init__(self, only: Optional[Collection[str]] = None, host: bool = True) -> None:
        """`only`: the UUIDs of the cards to read, all without it; `host`: whether to read the host too.

        With no UUID in `only` the driver is not asked at all, which would wake cards that sleep.
        """
        self._only = only
        self._host = Host() if host else None
        self._people = People()
        self._nvml: Optional[Nvml] = None
        self._cards: list[Card] = []
        self._watch: Optional[PcieWatch] = None
        self._problem: dict[str, str] = dict(_NOT_ASKED) if only is not None and not only else {}
        self._retry_at = 0.0
        self._connected: Optional[tuple[Any, ...]] = None
        self._known: dict[str, Any] = {}
        self.driver_gone = False
        """The driver that this process began with has gone: only a new process can use the next one."""

    def read(self, seq: int, hz: float) -> Snapshot:
        """Return the machine as it is now; `seq` and `hz` are put into the snapshot as they are."""
        snapshot: Snapshot = {"seq": seq, "t": round(time.time(), 3), "hz": hz, **self._read_nvml()}
        if self._host is not None:
            namespace = "initial" if self._people.initial else "own"
            snapshot["host"] = {**self._host.read(), "pid_namespace": namespace}
        return snapshot

    def settle(self, seconds: float) -> None:
        """Wait for what is looked at beside the samples, but not longer than this."""
        if self._watch is not None:
            self._watch.wait(seconds)

    def _read_nvml(self) -> dict[str, Any]:
        now = time.monotonic()
        if self._nvml is None and now >= self._retry_at and self._problem != _NOT_ASKED:
            self._start(now)
        if self._nvml is None:
            return self._without()
        try:
            return self._read_cards(self._nvml, now)
        except DriverGone as gone:
            self.driver_gone = True
            self._give_up(why_not(gone.code))
            return self._without()

    def _start(self, now: float) -> None:
        self._retry_at = now + RETRY_S
        try:
            nvml = Nvml()
            count = nvml.ask("nvmlDeviceGetCount")
            if is_missing(count):
                raise NoNvml({"state": "error", "reason": count["reason"], "text": _counting_failed(count)})
            events, self._watch = XidEvents(nvml), PcieWatch(nvml)
            cards = [Card(nvml, index, self._people, events, self._watch) for index in range(int(count))]
            self._known = {
                "driver": text_of(nvml.ask("nvmlSystemGetDriverVersion")),
                "cuda_driver": _cuda(nvml.ask("nvmlSystemGetCudaDriverVersion_v2")),
            }
        except NoNvml as error:
            self._problem = error.problem
            return
        except DriverGone as gone:
            self.driver_gone = True
            self._problem = why_not(gone.code)
            return
        self._nvml, self._cards, self._events = nvml, cards, events
        self._connected = None

    def _give_up(self, problem: dict[str, str]) -> None:
        self._nvml = None
        self._cards = []
        self._problem = problem

    def _without(self) -> dict[str, Any]:
        return {
            "driver": _NOT_THERE,
            "cuda_driver": _NOT_THERE,
            "nvml": self._problem,
            "gpus": [],
            "topology": [],
            "p2p": [],
        }

    def _read_cards(self, nvml: Nvml, now: float) -> dict[str, Any]:
        self._events.take()
        rows = []
        for card in self._cards:
            if self._only is None or card.row.get("uuid", None) in self._only or not card.row:
                rows.append(card.read(now))
        if rows and all(card.lost_by == error_name(UNKNOWN) for card in self._cards):
            # So the driver answers for a while after it was reloaded.
            raise DriverGone(UNKNOWN)
        self._people.forget_all_but(
            {
                process["pid"]
                for row in rows
                if isinstance(row["processes"], list)
                for process in row["processes"]
            }
        )
        if self._only is not None:
            rows = [row for row in rows if row.get("uuid") in self._only]
        else:
            self._connect(nvml)
        return {**self._known, "nvml": "ok", "gpus": rows}

    def _connect(self, nvml: Nvml) -> None:
        """Ask anew how the cards are connected where one came, went, or has another set of links."""
        state = tuple(
            (card.handle is not None, card.row["uuid"], str(card.row["nvlink"])) for card in self._cards
        )
        if state == self._connected:
            return
        self._connected = state
        handles = [card.row["unreadable"] if card.handle is None else card.handle for card in self._cards]
        rows = [card.row for card in self._cards]
        self._known = {
            **self._known,
            "topology": read_topology(nvml, handles, rows),
            "p2p": read_p2p(nvml, handles),
        }


def _cuda(version: Any) -> Any:
    """Return ``12.8`` for 12080."""
    return version if is_missing(version) else f"{version // 1000}.{version % 1000 // 10}"


def _counting_failed(answer: dict[str, str]) -> str:
    return f"the NVIDIA driver does not tell how many GPUs there are: it says {answer['reason']}"
