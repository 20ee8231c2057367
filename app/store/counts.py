"""Exact executions a key, from the array of little-endian int64 that the recorder keeps beside a trace."""

from __future__ import annotations

import array
import sys
from pathlib import Path


class CountsFile:
    """One process's NAME.counts; index is the key's own id in that process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.present = False
        self._raw = b""
        self._values = array.array("q")

    def refresh(self) -> bool:
        """Read the file again; true when a number changed. A file that is not there counts nothing."""
        try:
            raw = self.path.read_bytes()
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

    def get(self, key: int) -> int | None:
        """Executions of the key so far; None where the file does not reach that far."""
        return self._values[key] if 0 < key < len(self._values) else None
