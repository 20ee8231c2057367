"""Tells which devices the process uses, as they turn up: MXNet has any number of CPU contexts."""

from __future__ import annotations

import threading

from ..trace.cards import DRIVER, card_facts, cuda_environment
from ..trace.hop import HOST
from ..trace.recording import Recording
from ..trace.schema import DeviceFacts, LaterFacts
from ..trace.ticking import TICK_S
from .arrays import Arrays

_ASKED_FOR_S = 30.0


def install(recording: Recording, arrays: Arrays) -> None:
    """Note the host at once, and every other device when the first array is on it."""
    known: dict[str, DeviceFacts] = {}
    waiting: dict[str, int] = {}
    guard = threading.Lock()

    def tell() -> None:
        facts: LaterFacts = {"devices": list(known), "device_map": dict(known)}
        if any(_is_gpu(device) for device in known):
            facts["cuda_environment"] = cuda_environment()
        recording.fact(facts)

    def turned_up(device: str) -> None:
        with guard:
            known[device] = _facts(device)
            if _is_gpu(device) and known[device].get("source") != DRIVER:
                waiting[device] = round(_ASKED_FOR_S / TICK_S)
            tell()

    def ask_again() -> None:
        """MXNet starts CUDA in a thread of its own, after the array was asked for."""
        if not waiting:
            return
        with guard:
            found = {device: _facts(device) for device in waiting}
            answered = {device: facts for device, facts in found.items() if facts.get("source") == DRIVER}
            known.update(answered)
            for device, left in list(waiting.items()):
                waiting[device] = left - 1
                if device in answered or left <= 1:
                    del waiting[device]
            if answered:
                tell()

    arrays.new_device.append(turned_up)
    arrays.named(HOST)
    recording.tickers.append(ask_again)


def _is_gpu(device: str) -> bool:
    return device.startswith("gpu:")


def _facts(device: str) -> DeviceFacts:
    """A CPU context other than the host plays a GPU; gpu(i) is CUDA's device i."""
    if _is_gpu(device):
        return card_facts(int(device.partition(":")[2]))
    return {"stand_in": device != HOST}
