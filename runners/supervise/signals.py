"""Signals that are fetched one by one, so that none is lost, and none comes at a bad moment."""

from __future__ import annotations

import ctypes
import os
import signal

from runners.supervise.run_log import RunLog

STOP_SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT})
WATCHED = STOP_SIGNALS | {signal.SIGCHLD, signal.SIGHUP}


class SignalQueue:
    """The watched signals of this process, blocked from the making of this on."""

    def __init__(self, libc: ctypes.CDLL) -> None:
        self._libc = libc
        self._descriptor: int | None = None
        # An inherited SIG_IGN for SIGCHLD would throw away exit statuses.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)

    def next(self, timeout_s: float, log: RunLog) -> int | None:
        """Return the next signal; None when none came in time, or members printed, which the log takes."""
        if log.reads:
            if self._descriptor is None:
                self._descriptor = self._readable_while_one_waits()
            log.wait(self._descriptor, timeout_s)
            timeout_s = 0.0
        received = signal.sigtimedwait(WATCHED, timeout_s)
        return None if received is None else received.si_signo

    def _readable_while_one_waits(self) -> int:
        mask = ctypes.create_string_buffer(128)
        self._libc.sigemptyset(mask)
        for signum in WATCHED:
            self._libc.sigaddset(mask, int(signum))
        descriptor = int(self._libc.signalfd(-1, mask, os.O_CLOEXEC | os.O_NONBLOCK))
        if descriptor < 0:
            raise OSError(ctypes.get_errno(), "signalfd failed")
        return descriptor
