"""Memory in use on each device over time: measured where the device can tell, else an estimate."""

from __future__ import annotations

from typing import Any

from ..trace.hop import is_host
from ..trace.recording import Recording, clock
from ..trace.schema import MemoryFields
from ..trace.ticking import TICK_S
from .live import LiveBytes
from .names import short_device

_WHY = "variables and eager tensors of 4 KiB and more; what a graph call holds while it runs is not in it"
_NOTHING = "what a call holds while it runs is not seen"
_EVERY = round(1 / TICK_S)
_EVERY_NS = 1_000_000_000


def install(recording: Recording) -> None:
    """Sample once a second, from the recording's own thread, once there are devices."""
    live, windows = LiveBytes.of(recording), recording.windows
    state: dict[str, Any] = {"ticks": 0, "last": {}, "estimated": 0}

    def sample() -> None:
        state["ticks"] += 1
        if not (state["ticks"] - 1) % _EVERY or recording.ending:
            sample_devices(estimates=recording.ending or not windows.paused)

    def sample_after_window() -> None:
        # What is made in a pause is not in the estimate.
        if clock() - state["estimated"] > _EVERY_NS:
            sample_devices(estimates=True)

    def sample_devices(estimates: bool) -> None:
        from tensorflow.python.eager import context

        ctx = context.context()
        if not getattr(ctx, "_initialized", False):
            return
        if estimates:
            state["estimated"] = clock()
        for device in _devices(ctx):
            if estimates or "gpu" in short_device(device):
                _sample(recording, ctx, device, live, state["last"])

    recording.tickers.append(sample)
    recording.after_window.append(sample_after_window)


def _devices(ctx: Any) -> list[str]:
    return [device.name for device in ctx._logical_devices or []]


def _sample(
    recording: Recording, ctx: Any, name: str, live: LiveBytes, last: dict[tuple[str, str, str, str], int]
) -> None:
    device = short_device(name)
    if "gpu" in device:
        info = ctx.get_memory_info(name)
        values, basis, why = {"in_use": info["current"], "peak": info["peak"]}, "measured", ""
    elif is_host(device) and not live.totals:
        return
    else:
        in_use, peak = live.totals.get(device, (0, 0))
        values = {"in_use": in_use, "peak": peak}
        # Of what only ran graphs nothing is known, which is not nothing.
        basis, why = ("estimated", _WHY) if peak else ("unsupported", _NOTHING)
    for what, value in values.items():
        identity = ("memory", device, what, basis)
        fields = MemoryFields(device=device, what=what, basis=basis, why=why)
        key = recording.key(identity, "memory", fields, counted=False)
        if last.get(identity) != value or recording.ending:
            last[identity] = value
            recording.kept_counts[key] += 1
            recording.event("memory", clock(), 0, key, 1, value)
