"""Counters that one call answers together: energy, memory temperature, bytes over PCIe and NVLink as rates.

A rate is the increase since the tick before over the time between. Where the driver has no counter of PCIe
bytes it can only be asked to watch the link for 20 ms, which a thread of its own does (`PcieWatch`), because
two such calls for each of eight cards would hold up a sample by a third of a second.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Optional

from .calls import CardGone, DriverGone, Nvml
from .missing import absent, is_missing, missing

_ENERGY, _MEMORY_TEMPERATURE = 83, 82
_PCIE_TX, _PCIE_RX = 197, 198
_NVLINK_TX, _NVLINK_RX = 138, 139
_ALL_LINKS = 0xFFFFFFFF
_FIELDS = (
    (_ENERGY, 0),
    (_MEMORY_TEMPERATURE, 0),
    (_PCIE_TX, 0),
    (_PCIE_RX, 0),
    (_NVLINK_TX, _ALL_LINKS),
    (_NVLINK_RX, _ALL_LINKS),
)
_VALUE = {0: "dVal", 1: "uiVal", 2: "ulVal", 3: "ullVal", 4: "sllVal", 5: "siVal", 6: "usVal"}
_NARROW = 1
"""The value type of 32 bits: a counter of bytes in it goes round several times a second."""
_PLAIN = {_ENERGY: "energy_joules", _MEMORY_TEMPERATURE: "temperature_memory_celsius"}
_RATES = {
    _PCIE_TX: ("pcie_tx_bytes_per_second", 1),
    _PCIE_RX: ("pcie_rx_bytes_per_second", 1),
    _NVLINK_TX: ("nvlink_tx_bytes_per_second", 1024),
    _NVLINK_RX: ("nvlink_rx_bytes_per_second", 1024),
}
_FIRST = absent("a rate needs two samples", "error")
_PCIE = (_RATES[_PCIE_TX][0], _RATES[_PCIE_RX][0])
_WATCHED_S = 1.0
_OLD_S = 5.0
"""When what was last seen of a link is told no more: the driver does not answer."""
_OLD = absent("NVML_ERROR_TIMEOUT", "error")


class Counters:
    """One card's counters and what they were the tick before."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[float, int]] = {}
        self._known: dict[str, Any] = {}
        self.pcie_by_watching = False
        """The driver has no counter of PCIe bytes."""

    def read(self, nvml: Nvml, handle: Any, now: float) -> dict[str, Any]:
        """Return the fields' values at `now`, seconds of the monotonic clock."""
        values = nvml.ask("nvmlDeviceGetFieldValues", handle, _FIELDS)
        if is_missing(values):
            self.pcie_by_watching = True
            return dict.fromkeys((*_PLAIN.values(), *(name for name, _ in _RATES.values())), values)
        found: dict[str, Any] = {}
        for (field, _), value in zip(_FIELDS, values):
            code = int(value.nvmlReturn)
            number = None if code else int(getattr(value.value, _VALUE.get(int(value.valueType), "ullVal")))
            if field == _ENERGY:
                found[_PLAIN[field]] = missing(code) if number is None else number / 1000
            elif field == _MEMORY_TEMPERATURE:
                found[_PLAIN[field]] = missing(code) if number is None else number
            elif field in (_PCIE_TX, _PCIE_RX) and (number is None or int(value.valueType) == _NARROW):
                self.pcie_by_watching = True
                found[_RATES[field][0]] = missing(code) if code else _FIRST
            else:
                found[_RATES[field][0]] = missing(code) if number is None else self._rate(field, number, now)
        return found

    def _rate(self, field: int, number: int, now: float) -> Any:
        before = self._before.get(field)
        name, factor = _RATES[field]
        if before is not None and now - before[0] < 1e-3:
            return self._known.get(name, _FIRST)
        self._before[field] = (now, number)
        if before is None or number < before[1]:
            # It began anew with the driver, or went round.
            self._known[name] = _FIRST
        else:
            self._known[name] = round((number - before[1]) * factor / (now - before[0]))
        return self._known[name]


class PcieWatch:
    """Asks cards in turn, once a second, for what goes over their PCIe link."""

    def __init__(self, nvml: Nvml) -> None:
        self._nvml = nvml
        self._handles: dict[int, Any] = {}
        self._found: dict[int, tuple[float, dict[str, Any]]] = {}
        self._thread: Optional[threading.Thread] = None
        self._changed = threading.Condition()

    def rates(self, index: int, handle: Any) -> dict[str, Any]:
        """Return what was last seen of a card; it is watched from the first call on."""
        if self._handles.get(index) is not handle:
            with self._changed:
                self._handles[index] = handle
                self._changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="pcie", daemon=True)
            self._thread.start()
        when, found = self._found.get(index, (0.0, None))
        if found is None:
            return dict.fromkeys(_PCIE, _FIRST)
        return found if time.monotonic() - when < _OLD_S else dict.fromkeys(_PCIE, _OLD)

    def forget(self, index: int) -> None:
        """Watch a card no more."""
        with self._changed:
            self._handles.pop(index, None)
            self._found.pop(index, None)

    def wait(self, seconds: float) -> None:
        """Wait until every card was looked at once, but not longer than this."""
        with self._changed:
            self._changed.wait_for(lambda: self._handles.keys() <= self._found.keys(), seconds)

    def _watch(self) -> None:
        while True:
            began = time.monotonic()
            for index, handle in list(self._handles.items()):
                self._look(index, handle)
            left = max(0.05, _WATCHED_S - (time.monotonic() - began))
            with self._changed:
                # A card that was added meanwhile does not wait for the next round.
                self._changed.wait_for(lambda: self._handles.keys() - self._found.keys(), left)

    def _look(self, index: int, handle: Any) -> None:
        try:
            found = {name: self._ask(handle, way) for way, name in enumerate(_PCIE)}
        except (CardGone, DriverGone):
            # Whoever samples finds out by itself, and forgets the card.
            found = dict.fromkeys(_PCIE, _FIRST)
        with self._changed:
            if self._handles.get(index) is handle:
                self._found[index] = (time.monotonic(), found)
            self._changed.notify_all()

    def _ask(self, handle: Any, way: int) -> Any:
        kibibytes = self._nvml.ask("nvmlDeviceGetPcieThroughput", handle, way)
        return kibibytes if is_missing(kibibytes) else int(kibibytes) * 1024
