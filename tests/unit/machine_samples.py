"""Made-up samples of a machine, and a source of them that a test moves by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from probes.nvml.snapshot import Message, Snapshot, merge
from runners.machine.sample_history import History

UNSUPPORTED = {"state": "unsupported", "reason": "NVML_ERROR_NOT_SUPPORTED"}


def gpu(index: int, **fields: Any) -> dict[str, Any]:
    return {
        "index": index,
        "uuid": f"GPU-{index}",
        "name": "NVIDIA Test",
        "unreadable": None,
        "utilization_gpu_percent": 10 * index,
        "memory_used_bytes": 2**30,
        "power_watts": 100.5,
        "fan_percent": UNSUPPORTED,
        **fields,
    }


def full_message(seq: int, t: float, gpus: int = 2) -> Message:
    return {
        "seq": seq,
        "t": t,
        "full": True,
        "hz": 1.0,
        "nvml": "ok",
        "gpus": [gpu(index) for index in range(gpus)],
        "host": {"hostname": "bench", "cpu_percent": 5.0, "memory_used_bytes": 2**33},
    }


def change(seq: int, t: float, *loads: int) -> Message:
    gpus = [{"index": index, "utilization_gpu_percent": load} for index, load in enumerate(loads)]
    return {"seq": seq, "t": t, "full": False, "gpus": gpus, "host": {"cpu_percent": float(seq)}}


class ByHand:
    """A source of samples such as the monitor is; `publish` is its thread."""

    def __init__(self) -> None:
        self.snapshot: Snapshot | None = None
        self.hz = 1.0
        self.callbacks: list[Callable[[Message, Snapshot], None]] = []
        self._history = History()

    def publish(self, message: Message) -> None:
        self.snapshot = merge(self.snapshot, message)
        self._history.add(self.snapshot)
        for callback in list(self.callbacks):
            callback(message, self.snapshot)

    def subscribe(self, callback: Callable[[Message, Snapshot], None]) -> Callable[[], None]:
        self.callbacks.append(callback)
        return lambda: self.callbacks.remove(callback)

    def history(self, since: float) -> dict[str, Any]:
        return self._history.since(since)

    def set_rate(self, hz: float) -> float:
        self.hz = hz
        return hz
