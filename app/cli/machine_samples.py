"""Following this machine's samples on the command line, until enough of them came or somebody ends it."""

from __future__ import annotations

import queue
import signal
import time
from collections.abc import Iterator
from types import FrameType
from typing import Self

from app.cli.output import tell
from probes.nvml.snapshot import Message, Snapshot
from runners.machine.monitor import Monitor

_LOOK_S = 1.0


class Samples:
    """The samples of a monitor of its own, as they come: iterate over it within `with`.

    Ctrl-C, TERM and a closed terminal end it as KeyboardInterrupt, so that whoever iterates can tidy up.
    """

    def __init__(self, hz: float, seconds: float | None = None) -> None:
        """`seconds`: how long, from the first sample on; None: until it is ended."""
        self._monitor = Monitor(hz)
        self._seconds = seconds
        self._came: queue.SimpleQueue[tuple[Message, Snapshot] | None] = queue.SimpleQueue()
        self._last: tuple[Message, Snapshot] | None = None

    def __enter__(self) -> Self:
        for number in (signal.SIGTERM, signal.SIGHUP):
            # Under nohup it is to be ignored and stays so.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _end)
        self._monitor.subscribe(lambda message, snapshot: self._came.put((message, snapshot)))
        self._monitor.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self._monitor.stop()

    def __iter__(self) -> Iterator[tuple[Message, Snapshot]]:
        end: float | None = None
        problem: str | None = None
        while end is None or time.monotonic() < end:
            try:
                left = _LOOK_S if end is None else min(_LOOK_S, max(0.0, end - time.monotonic()))
                sample = self._came.get(timeout=left)
            except queue.Empty:
                if self._last is None and self._monitor.problem not in (None, problem):
                    problem = self._monitor.problem
                    tell(f"no sample yet: {problem}")
                continue
            if sample is not None:
                self._last = sample
                if end is None and self._seconds is not None:
                    end = time.monotonic() + self._seconds
            if self._last is not None:
                yield self._last

    def again(self) -> None:
        """Have the newest sample come once more; may be called from a signal's handler."""
        self._came.put(None)


def _end(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
