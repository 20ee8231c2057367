"""Times copies by the host's clock: large ones for their bandwidth, the smallest for what any costs."""

from __future__ import annotations

import statistics
import time
from typing import Callable

_PAIR_S = 0.4
"""How long one pair's large copies are repeated at most, as soon as one was timed."""
_REPETITIONS = 7
_BATCH_S = 0.01
_MOST_IN_BATCH = 16
_SMALL_BYTES = 4
_SMALL_REPETITIONS = 60

Copy = Callable[[int], None]
"""Starts a copy of so many bytes."""
Wait = Callable[[], None]
"""Returns when all that was started is done."""


def large_copy(copy: Copy, wait: Wait, size: int) -> float:
    """Seconds of one copy: the median of several rounds, each of as many copies as a clock can tell."""
    copy(size)
    wait()
    first = _round(copy, wait, size, 1)
    batch = max(1, min(_MOST_IN_BATCH, int(_BATCH_S / first)))
    times = [first] if batch == 1 else []
    until = time.perf_counter() + _PAIR_S
    while len(times) < _REPETITIONS and (not times or time.perf_counter() < until):
        times.append(_round(copy, wait, size, batch))
    return statistics.median(times)


def small_copy(copy: Copy, wait: Wait) -> float:
    """Seconds from asking for the smallest copy to its being done."""
    times = [_round(copy, wait, _SMALL_BYTES, 1) for _ in range(_SMALL_REPETITIONS)]
    return statistics.median(times[_SMALL_REPETITIONS // 6 :])


def _round(copy: Copy, wait: Wait, size: int, batch: int) -> float:
    start = time.perf_counter()
    for _ in range(batch):
        copy(size)
    wait()
    return (time.perf_counter() - start) / batch
