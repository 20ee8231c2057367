"""How fast this machine copies within the host's memory: what a value on a CPU device takes to Python."""

from __future__ import annotations

from ..trace.recording import Recording, clock

_BYTES = 1 << 20
_TIMES = 3


def install(recording: Recording) -> None:
    """Time a few copies of a MiB; the fastest counts, because whatever disturbs one makes it slower."""
    import numpy as np

    source = np.ones(_BYTES, np.uint8)
    target = np.empty_like(source)
    best = 0
    for _ in range(_TIMES):
        start = clock()
        np.copyto(target, source)
        taken = clock() - start
        best = taken if not best else min(best, taken)
    recording.fact({"host_copy": {"bytes": _BYTES, "ns": best}})
