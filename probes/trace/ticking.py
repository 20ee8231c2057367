"""Calls the recorder four times a second, from a thread that the program does not meet.

A thread made by `threading` is in its lists: a program that joins all of them would wait for this one for
ever. So it is started below that, and it leaves all signals to the program's own threads.
"""

from __future__ import annotations

import _thread
import signal
from typing import Callable

from .guard import Guard

TICK_S = 0.25
_OF_A_THREAD = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP}
"""Signals of what a thread itself did; where they are blocked, the kernel ends the process."""


class Ticking:
    """A thread that calls `tick` until it is stopped; once stopped, another is to be made."""

    def __init__(self, tick: Callable[[], None], guard: Guard) -> None:
        """`guard` keeps the errors of `tick` from the program's output."""
        self._tick = tick
        self._guard = guard
        self._going = _thread.allocate_lock()
        """Held until it is to stop."""
        self._alive = _thread.allocate_lock()
        """Held by the thread."""
        self._thread = 0
        self._going.acquire()
        self._alive.acquire()
        _thread.start_new_thread(self._run, ())

    def stop(self) -> None:
        """Let it end soon."""
        if self._going.locked():
            self._going.release()

    def wait(self) -> None:
        """Wait until it has ended; at once where it is this very thread."""
        if _thread.get_ident() != self._thread:
            with self._alive:
                pass

    def _run(self) -> None:
        self._thread = _thread.get_ident()
        try:
            with self._guard:
                signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _OF_A_THREAD)
            while not self._going.acquire(timeout=TICK_S):
                with self._guard:
                    self._tick()
        finally:
            self._alive.release()
