"""Tells which devices the process uses, as they turn up: MXNet has any number of CPU contexts."""

from __future__ import annotations

import threading
from typing import Any

from ..trace.cards import card_facts, visible_cards
from ..trace.hop import HOST
from ..trace.recording import Recording
from .arrays import Arrays


def install(recording: Recording, arrays: Arrays) -> None:
    """Note the host at once, and every other device when the first array is on it."""
    known: dict[str, dict[str, Any]] = {}
    guard = threading.Lock()

    def turned_up(device: str) -> None:
        with guard:
            known[device] = _facts(device)
            recording.fact({"devices": list(known), "device_map": dict(known)})

    arrays.new_device.append(turned_up)
    arrays.named(HOST)


def _facts(device: str) -> dict[str, Any]:
    """A CPU context other than the host plays a GPU; a GPU is the card that the environment made it."""
    kind, _, number = device.partition(":")
    if kind == "gpu":
        return card_facts(int(number), visible_cards())
    return {"stand_in": device != HOST}
