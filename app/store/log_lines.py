"""Follows a run's log line by line, however the program writes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from app.store.log import LOG_NAME
from runners.runs import run_files

LONGEST_LINE = 1 << 12
"""Bytes of a line that are handed out: what readers look for stands at its beginning."""
STAGE = b"hopscope: stage "
"""How the line begins that its supervisor writes where a stage of the run does; then the stage's name."""
_BLOCK = 1 << 20


class LogLines:
    """Hands out each finished line of a log once; a carriage return ends one as a newline does."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the run's; its log may not be there yet."""
        self._folder = folder
        self._offset = 0
        self._rest = b""

    def read(self) -> Iterator[bytes]:
        """The lines that were finished since the last time; none where the log can't be read."""
        try:
            with run_files.open_file(self._folder, LOG_NAME) as log:
                while block := os.pread(log.fileno(), _BLOCK, self._offset):
                    self._offset += len(block)
                    if not block.strip(b"\0"):
                        self._offset = run_files.next_data(log.fileno(), self._offset)
                        continue
                    # A progress bar overwrites its line by carriage returns.
                    *lines, rest = (self._rest + block).replace(b"\r", b"\n").split(b"\n")
                    self._rest = rest[:LONGEST_LINE]
                    yield from (line[:LONGEST_LINE] for line in lines)
        except OSError:
            return
