"""Exact executions a key, from the array of little-endian int64 that the recorder keeps beside a trace."""

from __future__ import annotations

import array
import os
import sys
from pathlib import Path

from probes.trace.writer import dropped_in
from runners.runs import run_files


class CountsFile:
    """One process's NAME.counts; index is the key's own id in that process."""

    def __init__(self, folder: Path, name: str) -> None:
        """`folder` is the run's, `name` the file's in it."""
        self.name = name
        self._folder = folder
        self.present = False
        self._raw = b""
        self._values = array.array("q")

    def refresh(self) -> bool:
        """Read the file again; true when a number changed. A file that is not there counts nothing."""
        try:
            raw = run_files.read_file(self._folder, self.name)
        except OSError:
            return False
        self.present = True
        if raw == self._raw:
            return False
        self._raw = raw
        self._values = array.array("q")
        self._values.frombytes(raw[: len(raw) // 8 * 8])
        if sys.byteorder == "big":
            self._values.byteswap()
        return True

    @property
    def dropped(self) -> tuple[int, str]:
        """Records of this process that found no room in its trace, and why; (0, '') where all did."""
        records, reason = dropped_in(self._values[0]) if self._values else (0, 0)
        return records, os.strerror(reason) if reason else ""

    def get(self, key: int) -> int | None:
        """Executions of the key so far; None where the file does not reach that far."""
        return self._values[key] if 0 < key < len(self._values) else None
