"""A run's out.log as its supervisor writes it: several members' output line by line, and its own words."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import select
from pathlib import Path

PIECE_BYTES = 1 << 16
LONGEST_KEPT = 1 << 16
"""How much of a line is kept back, in bytes, until its end comes."""
_BREAK = re.compile(rb"(\n|\r(?!\n))(?!\Z)")


@dataclasses.dataclass(eq=False)
class _Source:
    prefix: bytes
    descriptor: int
    rest: bytes = b""
    """The beginning of a line whose end has not come."""


class RunLog:
    """One run's log. A member that runs alone writes to it itself; several are read through pipes."""

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._sources: dict[int, _Source] = {}
        self._poll = select.poll()
        self._open: _Source | None = None
        """Whose line is the last of the log and has no end yet."""
        self._lost = 0

    @property
    def reads(self) -> bool:
        """Whether there is a member whose output is yet to be read."""
        return bool(self._sources)

    def pipe(self, name: str, width: int) -> int:
        """Return a descriptor for a member's output; its name, `width` wide, will stand before each line.

        The caller closes it once the member has it.
        """
        readable, writable = os.pipe()
        os.set_blocking(readable, False)
        self._sources[readable] = _Source(f"{name:<{width}} | ".encode(), readable)
        self._poll.register(readable, select.POLLIN)
        return writable

    def wait(self, wake: int, timeout_s: float) -> None:
        """Take what members print, until the descriptor `wake` is readable or the time is over."""
        self._poll.register(wake, select.POLLIN)
        try:
            for descriptor, _ in self._poll.poll(timeout_s * 1000):
                if descriptor != wake:
                    self._read(self._sources[descriptor])
        finally:
            self._poll.unregister(wake)

    def finish(self) -> None:
        """Take what is left in the pipes, and close them."""
        for source in list(self._sources.values()):
            while source.descriptor in self._sources and self._read(source):
                pass
            self._close(source)

    def say(self, text: str) -> None:
        """Write a line of the supervisor's own, behind what members have printed by now."""
        for source in list(self._sources.values()):
            self._read(source)
        self._open = None
        self._write(self._line_end() + f"hopscope: {text}\n".encode())

    def _read(self, source: _Source) -> bool:
        """Take what one member printed; return whether there was anything."""
        try:
            data = os.read(source.descriptor, PIECE_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._close(source)
            return False
        whole, end, source.rest = (source.rest + data).rpartition(b"\n")
        if end:
            self._add(source, whole + end)
        if len(source.rest) > LONGEST_KEPT:
            self._add(source, source.rest)
            source.rest = b""
        return True

    def _close(self, source: _Source) -> None:
        if self._sources.pop(source.descriptor, None) is None:
            return
        self._poll.unregister(source.descriptor)
        os.close(source.descriptor)
        if source.rest:
            self._add(source, source.rest)
            source.rest = b""
        if self._open is source:
            self._write(b"\n")
            self._open = None

    def _add(self, source: _Source, text: bytes) -> None:
        """Write what one member printed, each line with its prefix; an overlong one may come in pieces."""
        before = b""
        if self._open is not source:
            before = source.prefix if self._open is None else b"\n" + source.prefix
        # What a progress bar overwrites gets the prefix anew, or its last version would have none.
        self._write(before + _BREAK.sub(lambda found: found[1] + source.prefix, text))
        self._open = None if text.endswith(b"\n") else source

    def _line_end(self) -> bytes:
        """Return a newline where the log's last line has none, b"" otherwise."""
        with contextlib.suppress(OSError):
            size = os.fstat(self.descriptor).st_size
            if size and os.pread(self.descriptor, 1, size - 1) != b"\n":
                return b"\n"
        return b""

    def _write(self, data: bytes) -> None:
        told = f"\nhopscope: {self._lost} bytes of output found no room here\n" if self._lost else ""
        left = told.encode() + data
        # A full disk takes nothing from the members but their output.
        with contextlib.suppress(OSError):
            while left:
                left = left[os.write(self.descriptor, left) :]
            self._lost = 0
            return
        self._lost += min(len(left), len(data))
