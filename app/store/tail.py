"""Reads a growing trace file from where the last read stopped, whole lines only."""

from __future__ import annotations

import os
from pathlib import Path

from runners.runs import run_files

BLOCK = 8 << 20
MAX_LINE = 64 << 20


class FileTail:
    """Follows one append-only file whose unused tail may be NUL bytes.

    A line counts once its newline is there; what stands after the last newline, or from the first NUL
    byte on, is left for a later read.
    """

    def __init__(self, folder: Path, name: str) -> None:
        """`folder` is the run's, `name` the file's in it; it may not be there yet."""
        self._folder, self._name = folder, name
        self.offset = 0
        self._handle = -1

    def read(self, limit: int = BLOCK) -> bytes:
        """Next whole lines, about `limit` bytes at most; b'' when there is nothing new.

        Raises OSError when the file can't be read.
        """
        if self._handle < 0:
            self._handle = run_files.descriptor(self._folder, self._name)
        if os.pread(self._handle, 1, self.offset) in (b"", b"\0"):
            return b""
        while True:
            data = os.pread(self._handle, limit, self.offset)
            full = len(data) == limit
            nul = data.find(b"\0")
            if nul >= 0:
                data = data[:nul]
            end = data.rfind(b"\n") + 1
            if end:
                self.offset += end
                return data[:end]
            if nul >= 0 or not full or limit >= MAX_LINE:
                return b""
            limit *= 2

    def leftover(self) -> int:
        """Bytes after the last whole line that are not NUL: a torn line, or data behind a hole."""
        if self._handle < 0:
            return 0
        count, offset = 0, self.offset
        while data := os.pread(self._handle, BLOCK, offset):
            held = len(data) - data.count(b"\0")
            count += held
            offset += len(data)
            if not held:
                offset = run_files.next_data(self._handle, offset)
        return count

    def close(self) -> None:
        """Release the file; a later read opens it again."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
