"""Requests to end, collected by who has something to end first."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def stop_requests() -> Iterator[list[int]]:
    """Collect Ctrl-C and other requests to end, instead of ending at once and leaving a run alone."""
    requests: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        requests.append(number)

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Under nohup, or in the background of a script, it is to be ignored and stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, note)
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
