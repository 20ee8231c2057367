"""Waits on conditions for the tests of runs, with a limit for when they never come true."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from runners.runs import registry
from runners.runs.run import Run

T = TypeVar("T")

LONG_S = 60.0
"""More than a noisy machine takes; what comes true is not waited for."""


def until(read: Callable[[], T], timeout_s: float = LONG_S) -> T:
    """Wait until `read` gives something true, and return it."""
    deadline = time.monotonic() + timeout_s
    while not (value := read()):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)
    return value


def ended(run: Run) -> Run:
    run = registry.wait(run, LONG_S)
    assert run.ended, run.log.read_text()
    return run
