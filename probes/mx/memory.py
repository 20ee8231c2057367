"""Memory in use on each device over time: measured where it can be, else an estimate from the arrays.

MXNet's profiler counts what its allocator hands out, but costs too much to be always on: in an eager loop
of small ops 4 to 6 % of the processor's time, and 10 KB a step of a file that only grows. So only the
exact-line mode, which runs the profiler anyway, measures CPU contexts with it. A GPU's driver is asked
at no cost, but knows only the whole card.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional

from ..trace.recording import Recording, clock
from ..trace.schema import MemoryFields
from ..trace.ticking import TICK_S
from .arrays import Arrays
from .exact import ExactLines

_EVERY = round(1 / TICK_S)
_ARRAYS = (
    "the arrays that Python or a bound graph holds, and their gradients; not what ops need while they run, "
    "what autograd keeps for the backward pass, nor what kvstores hold"
)
_CARD = "the whole card, once a second: other processes and what MXNet keeps for reuse are in it"
_ALLOCATOR = "what MXNet's allocator has handed out, pinned and shared memory with the host's"


class _Reading(NamedTuple):
    in_use: int
    peak: int
    basis: str
    why: str


class Memory:
    """What was last written of each device."""

    def __init__(self, recording: Recording, arrays: Arrays, exact: Optional[ExactLines]) -> None:
        """`arrays` has the estimate; the exact-line mode measures as long as it runs."""
        self._recording = recording
        self._arrays = arrays
        self._exact = exact
        self._ticks = 0
        self._written: dict[int, int] = {}
        self._card_peaks: dict[str, int] = {}

    def tick(self) -> None:
        """Sample once a second, and once more when the process ends."""
        self._ticks += 1
        if (self._ticks - 1) % _EVERY and not self._recording.ending:
            return
        measured = self._exact.memory if self._exact is not None else {}
        for device, total in list(self._arrays.totals.items()):
            if device in measured:
                in_use, peak = measured[device]
                self._write(device, _Reading(in_use, peak, "measured", _ALLOCATOR))
            else:
                reading = self._card(device) or _Reading(total[0], total[1], "estimated", _ARRAYS)
                self._write(device, reading)

    def _card(self, device: str) -> Optional[_Reading]:
        """A GPU's memory as its driver tells it; None for other devices, and where it does not answer."""
        kind, _, number = device.partition(":")
        if kind != "gpu":
            return None
        from mxnet.base import MXNetError
        from mxnet.context import gpu_memory_info

        try:
            free, total = gpu_memory_info(int(number))
        except MXNetError:
            return None
        peak = self._card_peaks[device] = max(total - free, self._card_peaks.get(device, 0))
        return _Reading(total - free, peak, "sampled", _CARD)

    def _write(self, device: str, reading: _Reading) -> None:
        recording = self._recording
        for what, value in (("in_use", reading.in_use), ("peak", reading.peak)):
            fields = MemoryFields(device=device, what=what, basis=reading.basis, why=reading.why)
            key = recording.key(("memory", device, what, reading.basis), "memory", fields, counted=False)
            if self._written.get(key) != value or recording.ending:
                self._written[key] = value
                recording.kept_counts[key] += 1
                recording.event("memory", clock(), 0, key, 1, value)


def install(recording: Recording, arrays: Arrays, exact: Optional[ExactLines]) -> None:
    """Sample from the recording's own thread, and follow which arrays are gradients of which."""
    from mxnet.base import _LIB

    lib: Any = _LIB
    memory = Memory(recording, arrays, exact)
    guard = recording.guard("which arrays are gradients")
    mark_variables: Callable[..., int] = lib.MXAutogradMarkVariables

    def MXAutogradMarkVariables(count: Any, handles: Any, kinds: Any, gradients: Any) -> int:
        status = mark_variables(count, handles, kinds, gradients)
        if status == 0:
            with guard:
                for index in range(getattr(count, "value", count)):
                    arrays.gradient_of(handles[index], gradients[index])
        return status

    lib.MXAutogradMarkVariables = MXAutogradMarkVariables
    recording.tickers.append(memory.tick)
