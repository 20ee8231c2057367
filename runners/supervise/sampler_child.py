"""A sampler as a child process that may die, hang or say nonsense: started, read, and started again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Any

from runners.supervise.outcome import describe_end

SILENT_S = 5.0
"""How long it may say nothing before it counts as hung."""
FIRST_WORD_S = 30.0
"""The same for its first message: a driver without persistence mode wakes every card at first."""
AGAIN_AFTER_S = (0.5, 2.0, 5.0, 15.0, 60.0)
"""How long to wait before starting it again, the first time and from then on."""
STEADY_S = 30.0
"""One that has spoken for so long starts the waiting from its beginning."""
LONGEST_MESSAGE = 8 << 20
PIECE_BYTES = 1 << 16
KILLED_S = 1.0
"""How long one that was killed, or closed its output, has to end before it is looked at again."""


class SamplerChild:
    """At most one sampler at a time: one that cannot be ended is waited for, not given company.

    Times are in seconds of the monotonic clock. What it writes to standard error goes where this process's
    does.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._started_at = 0.0
        self._killed = False
        self._starts = 0
        self._next_start = 0.0
        self.due = 0.0
        """When `attend` has to be called at the latest."""
        self.why = "the sampler is starting"
        """Why it says nothing, where it does not."""

    @property
    def output(self) -> int | None:
        """The descriptor to wait on for its messages; None while there is none."""
        return self._process.stdout.fileno() if self._process and self._process.stdout else None

    def attend(self, now: float) -> None:
        """Start it where that is due, end it where it hangs, and take its end where it has ended."""
        if self._process is None:
            if now >= self.due:
                self._start(now)
            return
        wait_status = self._ended()
        if wait_status is not None:
            if not self._killed:
                self.why = describe_end(wait_status, "the sampler")
            self._forget(now)
        elif now >= self.due:
            if self._killed:
                self.why = "the sampler hangs in a call to the driver, where nothing can end it"
            elif self.output is not None:
                self.why = "the sampler said nothing for long, so it is started again"
            self._kill()
            self._killed = True
            self.due = now + KILLED_S

    def read(self, now: float) -> list[dict[str, Any]]:
        """Return the messages that have come."""
        descriptor = self.output
        if descriptor is None:
            return []
        try:
            data = os.read(descriptor, PIECE_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            # It has ended, or is of no use without its output.
            self._close_pipes()
            self.due = min(self.due, now + KILLED_S)
            return []
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        self._buffer = self._buffer[-LONGEST_MESSAGE:]
        messages = [message for line in lines if (message := _message(line)) is not None]
        if messages and not self._killed:
            self.why = "the sampler said nothing"
            self.due = now + SILENT_S
            if now - self._started_at > STEADY_S:
                self._starts = 1
        return messages

    def restart(self, now: float) -> None:
        """End it at the next `attend`, to be started again."""
        if not self._killed:
            self.due = now

    def end(self) -> None:
        """End it; one that hangs in a call to the driver ends when that returns."""
        if self._process is not None:
            self._kill()
            self._close_pipes()
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self._process.wait(0.5)

    def _start(self, now: float) -> None:
        wait = AGAIN_AFTER_S[min(self._starts, len(AGAIN_AFTER_S) - 1)]
        self._starts += 1
        self._next_start = now + wait
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
        except (OSError, subprocess.SubprocessError) as error:
            self.why = f"the sampler could not be started: {error}"
            self.due = self._next_start
            return
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self._buffer = b""
        self._killed = False
        self._started_at = now
        self.due = now + FIRST_WORD_S

    def _ended(self) -> int | None:
        """Return its wait status, None while it runs."""
        assert self._process is not None
        try:
            pid, wait_status = os.waitpid(self._process.pid, os.WNOHANG)
        except ChildProcessError:
            return 0
        return wait_status if pid else None

    def _forget(self, now: float) -> None:
        assert self._process is not None
        self._process.returncode = 0
        self._close_pipes()
        self._process = None
        self.due = max(self._next_start, now)

    def _kill(self) -> None:
        assert self._process is not None
        with contextlib.suppress(OSError):
            os.kill(self._process.pid, signal.SIGKILL)

    def _close_pipes(self) -> None:
        assert self._process is not None
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process.stdin = self._process.stdout = None


def _message(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) and isinstance(message.get("t"), int | float) else None
