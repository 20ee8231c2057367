"""XID errors, which the driver reports as events: nothing tells of them afterwards but its own log."""

from __future__ import annotations

import ctypes
import time
from typing import Any

from . import words
from .calls import CardGone, Nvml
from .missing import is_missing

_XID_EVENT = 0x8
_MOST_KEPT = 16
_MOST_AT_ONCE = 64


class XidEvents:
    """The XID errors of all cards since this was made."""

    def __init__(self, nvml: Nvml) -> None:
        self._nvml = nvml
        self._set = nvml.ask("nvmlEventSetCreate")
        self._cards: dict[int, int] = {}
        self._seen: dict[int, list[dict[str, Any]]] = {}
        self._unheard: dict[int, Any] = {}

    def register(self, index: int, handle: Any) -> None:
        """Listen to a card's events."""
        self._cards[_address(handle)] = index
        if is_missing(self._set):
            self._unheard[index] = self._set
            return
        try:
            answer = self._nvml.ask("nvmlDeviceRegisterEvents", handle, _XID_EVENT, self._set)
        except CardGone:
            # It tells so itself when its fields are asked for.
            return
        if is_missing(answer):
            self._unheard[index] = answer
        else:
            self._unheard.pop(index, None)

    def take(self) -> None:
        """Take the events that have come, without waiting."""
        if is_missing(self._set) or not self._cards:
            return
        for _ in range(_MOST_AT_ONCE):
            # A time-out is the ordinary answer: nothing has come.
            code, data = self._nvml.code_of("nvmlEventSetWait_v2", self._set, 0)
            if code:
                return
            number = int(data.eventData)
            index = self._cards.get(_address(data.device))
            if index is not None and data.eventType & _XID_EVENT:
                event = {"code": number, "t": round(time.time(), 3), "text": words.xid_text(number)}
                self._seen[index] = [*self._seen.get(index, []), event][-_MOST_KEPT:]

    def of(self, index: int) -> Any:
        """Return a card's events, oldest first; or why they cannot be heard."""
        return self._seen.get(index) or self._unheard.get(index, [])


def _address(handle: Any) -> int:
    return ctypes.cast(handle, ctypes.c_void_p).value or 0
