"""A run's out.log as its supervisor writes it: what the members print, and its own words.

Members print into pipes, so that a full disk fails none of their writes: what finds no room in the log is
dropped and counted. One member alone is kept byte for byte; of several, each line begins with a name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import os
import re
import select
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from probes import private_files

OUTPUT_LOST = "output_lost"
"""In status.json: how many bytes of output were dropped; `output_lost_why` says why."""
PIECE_BYTES = 1 << 16
PIPE_BYTES = 1 << 20
"""How much a member may print before it waits for the log; less where the kernel does not allow that."""
LONGEST_KEPT = 1 << 16
"""How much of a line is kept back, in bytes, until its end comes."""
LITTLE_BYTES = 1 << 16
PAUSE_S = 0.005
"""Time between two readings where members print little, so that not each write wakes this process."""
_BREAK = re.compile(rb"(\n|\r(?!\n))(?!\Z)")


@dataclasses.dataclass(eq=False)
class _Source:
    prefix: bytes
    """Stands before each line; empty for a member alone, whose output is kept as it is."""
    descriptor: int
    rest: bytes = b""
    """The beginning of a line whose end has not come."""


class RunLog:
    """One run's log, for the one process that writes it."""

    def __init__(self, path: Path, share: Callable[[int, str], None] | None = None) -> None:
        """`share` gets each new pipe and its prefix, for a second reader."""
        # Not for appending: the kernel moves nothing from a pipe to the end of a file by itself.
        self._file = private_files.open_file(str(path), os.O_RDWR | os.O_CREAT)
        self._share = share
        self._sources: dict[int, _Source] = {}
        self._poll = select.poll()
        self._open: _Source | None = None
        """Whose line is the last of the log and has no end yet."""
        self._moved_bytes = 0
        """What members had printed when they were last read."""
        self._gap = 0
        """Bytes that were dropped behind the last one in the log."""
        self.lost = 0
        """Bytes that were dropped in all."""
        self.why = ""
        """Why the last of them was."""

    @property
    def descriptors(self) -> Iterable[int]:
        """The pipes whose members may still print."""
        return tuple(self._sources)

    @property
    def reads(self) -> bool:
        """Whether there is a member whose output is yet to be read."""
        return bool(self._sources)

    def as_json(self) -> dict[str, Any]:
        """Return what was dropped as it stands in status.json; {} where nothing was."""
        return {OUTPUT_LOST: self.lost, f"{OUTPUT_LOST}_why": self.why} if self.lost else {}

    def pipe(self, prefix: str) -> int:
        """Return a descriptor for a member's output, before each line of which `prefix` will stand.

        The caller closes it once the member has it.
        """
        readable, writable = os.pipe()
        with contextlib.suppress(OSError):
            fcntl.fcntl(writable, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.follow(readable, prefix)
        if self._share is not None:
            self._share(readable, prefix)
        return writable

    def follow(self, descriptor: int, prefix: str) -> None:
        """Read a pipe from now on, and close it at its end."""
        os.set_blocking(descriptor, False)
        self._sources[descriptor] = _Source(prefix.encode(), descriptor)
        self._poll.register(descriptor, select.POLLIN)

    def wait(self, wake: int, timeout_s: float) -> None:
        """Read what members print, until the descriptor `wake` is readable or the time is over."""
        if self._moved_bytes < LITTLE_BYTES:
            waiting = select.poll()
            waiting.register(wake, select.POLLIN)
            if waiting.poll(min(timeout_s, PAUSE_S) * 1000):
                return
        self._moved_bytes = 0
        self._poll.register(wake, select.POLLIN)
        try:
            for descriptor, _ in self._poll.poll(timeout_s * 1000):
                if descriptor != wake:
                    self.read(descriptor)
        finally:
            self._poll.unregister(wake)

    def read(self, descriptor: int) -> None:
        """Read what the member behind one of `descriptors` has printed."""
        self._read(self._sources[descriptor])

    def finish(self) -> None:
        """Read what is left in the pipes, and close them."""
        for source in list(self._sources.values()):
            while source.descriptor in self._sources and self._read(source):
                pass
            self._close(source)

    def say(self, text: str) -> None:
        """Write a line of the supervisor's own, behind what members have printed by now."""
        for source in list(self._sources.values()):
            self._read(source)
        self._open = None
        self.write(self._line_end() + f"hopscope: {text}\n".encode())

    def write(self, data: bytes) -> None:
        """Append bytes; what finds no room is dropped and counted, and a later line says so."""
        left = data
        # Nothing may follow a gap that the log does not tell of.
        if self._tell_gap():
            try:
                while left:
                    left = left[self._append(left) :]
            except OSError as error:
                self.why = error.strerror or str(error)
        self._gap += len(left)
        self.lost += len(left)

    def _read(self, source: _Source) -> bool:
        """Read what one member printed; return whether there was anything."""
        if not source.prefix and self._tell_gap():
            with contextlib.suppress(OSError):
                # In one step: whoever is killed meanwhile, each byte is in the pipe or in the log.
                moved = os.splice(
                    source.descriptor,
                    self._file,
                    PIPE_BYTES,
                    offset_dst=self._size(),
                    flags=os.SPLICE_F_NONBLOCK,
                )
                return self._moved(source, moved)
        try:
            data = os.read(source.descriptor, PIECE_BYTES)
        except BlockingIOError:
            return False
        if data and not source.prefix:
            self.write(data)
        elif data:
            self._keep_lines(source, data)
        return self._moved(source, len(data))

    def _moved(self, source: _Source, count: int) -> bool:
        self._moved_bytes += count
        if not count:
            self._close(source)
        return count > 0

    def _keep_lines(self, source: _Source, data: bytes) -> None:
        whole, end, source.rest = (source.rest + data).rpartition(b"\n")
        if end:
            self._add(source, whole + end)
        if len(source.rest) > LONGEST_KEPT:
            self._add(source, source.rest)
            source.rest = b""

    def _close(self, source: _Source) -> None:
        if self._sources.pop(source.descriptor, None) is None:
            return
        self._poll.unregister(source.descriptor)
        os.close(source.descriptor)
        if source.rest:
            self._add(source, source.rest)
            source.rest = b""
        if self._open is source:
            self.write(b"\n")
            self._open = None

    def _add(self, source: _Source, text: bytes) -> None:
        """Write what one member printed, each line with its prefix; an overlong one may come in pieces."""
        before = b""
        if self._open is not source:
            before = source.prefix if self._open is None else b"\n" + source.prefix
        # What a progress bar overwrites gets the prefix anew, or its last version would have none.
        self.write(before + _BREAK.sub(lambda found: found[1] + source.prefix, text))
        self._open = None if text.endswith(b"\n") else source

    def _line_end(self) -> bytes:
        """Return a newline where the log's last line has none, b"" otherwise."""
        with contextlib.suppress(OSError):
            size = self._size()
            if size and os.pread(self._file, 1, size - 1) != b"\n":
                return b"\n"
        return b""

    def _tell_gap(self) -> bool:
        """Say in the log what was dropped, in one piece or not at all; return whether the log has no gap."""
        if not self._gap:
            return True
        words = f"hopscope: {self._gap} bytes of output were not kept here: {self.why}\n"
        line, size = self._line_end() + words.encode(), self._size()
        with contextlib.suppress(OSError):
            if self._append(line) == len(line):
                self._gap = 0
                return True
        with contextlib.suppress(OSError):
            os.ftruncate(self._file, size)
        return False

    def _append(self, data: bytes) -> int:
        return os.pwrite(self._file, data, self._size())

    def _size(self) -> int:
        return os.fstat(self._file).st_size
