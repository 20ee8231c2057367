"""The trace of one process on disk, version 1: what is written, and how it survives a kill.

Two files a process, both memory-mapped (mapped.py), so that a record is in the kernel's hands the moment
it is made: nothing waits in a buffer for a flush that a long call holding the interpreter, or a kill -9,
would prevent.

``NAME.jsonl``: one JSON array a line; the first item is its tag, and schema.py declares what follows. The
file is extended ahead of use, so its tail is NUL bytes; a reader stops at the first NUL or at a line without
its newline.

``NAME.counts``: little-endian 64-bit integers; the one at a key's id is that key's exact number of
executions so far. The one at 0, which is no key's, counts the records that found no room (`dropped_in`):
it has its place before there is anything to count.

``refused``: a file of the whole trace folder, for U records of processes that could not begin a trace
(refusals.py).

Times are nanoseconds of the monotonic clock since the header's ``mono_ns``. Ids are dense from 1;
0 is none. Standard library only: this runs inside any program's interpreter.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Optional

from .. import private_files
from .mapped import PAGE, MappedFile, Window
from .schema import DEFINING, FORMAT, VERSION

_FIRST = 1 << 16
_CHUNK = 1 << 20
_KEYS = 1 << 13
AGAIN_S = 1.0
"""After so long it is tried again to find room."""
_MOST_KEPT = 4 << 20
"""Bytes of definitions that wait in memory for room."""
_REASON_AT = 48
_DEFINING = DEFINING.encode()
_dumps = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, check_circular=False).encode


def is_definition(line: bytes) -> bool:
    """Return True if a line of a trace defines what others refer to by number."""
    return line[2:3] in _DEFINING


def dropped_in(cell: int) -> tuple[int, int]:
    """Records that found no room, and the error number of the last one, from the cell that counts them."""
    return cell & ((1 << _REASON_AT) - 1), cell >> _REASON_AT


class Written(NamedTuple):
    """What a writer has written up to now: the first `size` bytes of its file."""

    file: Optional[MappedFile]
    size: int

    def definitions(self) -> list[bytes]:
        """Return the lines among them that define something; OSError where they can't be read."""
        text = self.file.read(self.size) if self.file is not None else b""
        return [line for line in text.splitlines(True) if is_definition(line)]


class TraceWriter:
    """Appends records to a process's trace; without room it counts what it drops, and tries again later."""

    def __init__(self, folder: str, names: Iterable[str], header: Mapping[str, Any]) -> None:
        """Make .jsonl and .counts in `folder`, under the first of `names` that is free; write the header.

        Raises OSError where the folder can't be written; later failures never reach the program.
        """
        self._lock = threading.RLock()
        self._busy = False
        self._waiting: list[bytes] = []
        self._kept: list[bytes] = []
        """Definitions that found no room."""
        self._kept_bytes = 0
        self._position = 0
        self._closed = False
        self._again_at = 0.0
        private_files.make_folder(folder)
        self._file, self._counts_file = _make_pair(folder, names)
        try:
            self._window: Window = self._file.window(0, _FIRST)
            self.counts: memoryview = self._counts_file.window(0, _KEYS * 8).view.cast("q")
        except OSError:
            os.unlink(self._file.path)
            os.unlink(self._counts_file.path)
            raise
        self._mapped_counts = self.counts
        self.append(["H", VERSION, {"format": FORMAT, "version": VERSION, **header}])

    @property
    def path(self) -> str:
        """Where the records go."""
        return self._file.path

    @property
    def idle(self) -> bool:
        """Whether there is no file: nothing happened yet, or nothing is wanted."""
        return False

    def append(self, record: list[Any]) -> None:
        """Write one record; any thread may call, also a signal handler in the middle of an append."""
        self.append_bytes(_dumps(record).encode("ascii") + b"\n")

    def append_bytes(self, line: bytes) -> None:
        """Write one line, made by the caller where speed matters; it must end with a newline."""
        with self._lock:
            if self._busy:  # a signal handler of this very thread: its line follows the one underway
                self._waiting.append(line)
                return
            try:
                self._busy = True
                window, end = self._window, self._position + len(line)
                if end > window.end or self._kept:
                    self._put(line)
                else:  # as nearly all do
                    start = window.start
                    window.view[self._position - start : end - start] = line
                    self._position = end
                while self._waiting:
                    self._put(self._waiting.pop(0))
            finally:
                self._busy = False

    def _put(self, line: bytes) -> None:
        if (self._kept or self._position + len(line) > self._window.end) and not self._make_room(len(line)):
            self._lose(line)
            return
        start, end = self._window.start, self._position + len(line)
        self._window.view[self._position - start : end - start] = line
        self._position = end

    def _make_room(self, size: int) -> bool:
        """Map the next stretch of the file, for `size` bytes and the definitions that wait."""
        if self._closed or (self._again_at and time.monotonic() < self._again_at):
            return False
        kept = b"".join(self._kept)
        # Of the page that was written last there is a mapping.
        start = max(self._position - 1, 0) // PAGE * PAGE
        needed = self._position + len(kept) + size - start
        if start + needed > self._window.end:
            usual = _FIRST if self._position < _CHUNK // 4 else _CHUNK
            try:
                size = max(usual, -(-needed // PAGE) * PAGE)
                window = self._file.window(start, size, self._window)
            except (OSError, ValueError) as error:
                self._again_at = time.monotonic() + AGAIN_S
                self._count_dropped(0, error)
                return False
            self._window = window
        self._again_at = 0.0
        at = self._position - self._window.start
        self._window.view[at : at + len(kept)] = kept
        self._position += len(kept)
        self._kept, self._kept_bytes = [], 0
        return True

    def _lose(self, line: bytes) -> None:
        """Keep a line in memory that others refer to or that is about the whole; count any other."""
        if self._closed:
            return
        if line[2:3] != b"e" and self._kept_bytes + len(line) <= _MOST_KEPT:
            self._kept.append(line)
            self._kept_bytes += len(line)
        else:
            self._count_dropped(1)

    def _count_dropped(self, records: int, error: Optional[Exception] = None) -> None:
        dropped, reason = dropped_in(self._mapped_counts[0])
        if error is not None:
            reason = getattr(error, "errno", None) or errno.EIO
        self._mapped_counts[0] = dropped + records | reason << _REASON_AT

    def grow_counts(self, keys: int) -> None:
        """Make room for `keys` counters; where there is none, the file has the first ones only."""
        old = self.counts
        try:
            self.counts = self._mapped_counts = self._counts_file.window(0, keys * 8).view.cast("q")
        except (OSError, ValueError) as error:
            self._count_dropped(0, error)
            self.counts = memoryview(bytearray(keys * 8)).cast("q")
            self.counts[: len(old)] = old

    def keep_counts(self) -> None:
        """Write counters that live in memory to the file, as far as that reaches."""
        if self.counts is not self._mapped_counts:
            reach = len(self._mapped_counts)
            self._mapped_counts[1:reach] = self.counts[1:reach]

    def written(self) -> Written:
        """Return what has been written up to now."""
        return Written(self._file, self._position)

    def definitions(self) -> list[bytes]:
        """Return the lines so far that define something; none where the file is gone."""
        with self._lock:
            try:
                return self.written().definitions() + [line for line in self._kept if is_definition(line)]
            except OSError:
                return []

    def close(self) -> None:
        """Cut the unused tail off and ignore what comes later."""
        with self._lock:
            if self._closed:
                return
            self._again_at = 0.0
            if self._kept and not self._make_room(0):
                self._count_dropped(len(self._kept))
            self.keep_counts()
            self._closed = True
            with contextlib.suppress(OSError):  # a tail of NUL bytes is no harm
                self._file.cut(self._position)
            self._window.end = 0


class NoWriter(TraceWriter):
    """Takes records and keeps none: for a process that could not make its trace."""

    def __init__(self, keys: int) -> None:
        """Counters for `keys` keys, in memory only."""
        self.counts = memoryview(bytearray(8 * keys)).cast("q")

    @property
    def path(self) -> str:
        """Nowhere."""
        return os.devnull

    @property
    def idle(self) -> bool:
        """There is no file."""
        return True

    def append_bytes(self, line: bytes) -> None:
        """Forget the record."""

    def keep_counts(self) -> None:
        """There is no file."""

    def grow_counts(self, keys: int) -> None:
        """Make room for `keys` counters."""
        grown = memoryview(bytearray(8 * keys)).cast("q")
        grown[: len(self.counts)] = self.counts
        self.counts = grown

    def written(self) -> Written:
        """Nothing."""
        return Written(None, 0)

    def definitions(self) -> list[bytes]:
        """None were kept."""
        return []

    def close(self) -> None:
        """Nothing to close."""


def _make_pair(folder: str, names: Iterable[str]) -> tuple[MappedFile, MappedFile]:
    """Make the two files of a trace under the first name whose .jsonl is free."""
    for name in names:
        try:
            file = MappedFile(os.path.join(folder, name + ".jsonl"))
        except FileExistsError:
            continue
        try:
            return file, MappedFile(os.path.join(folder, name + ".counts"))
        except OSError:
            os.unlink(file.path)
            raise
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), folder)
