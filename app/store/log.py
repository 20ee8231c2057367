"""The end of a run's log as text that is safe to show, however the program wrote it."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

from runners.runs import run_files

LOG_NAME = "out.log"
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclasses.dataclass(frozen=True)
class LogTail:
    """The last lines of a log."""

    lines: tuple[str, ...]
    """Without line ends, escape sequences and control characters."""
    size: int
    """Bytes in the whole log."""
    skipped: int
    """Bytes before the first line shown."""

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


def read_tail(
    folder: Path, most_bytes: int = 1 << 16, most_lines: int = 500, longest_line: int = 2000
) -> LogTail:
    """The last lines of a run's log; empty when there is none yet.

    Of a line that was overwritten by carriage returns the last version is kept, of an overlong one its
    beginning, with the number of characters left out.
    """
    try:
        with run_files.open_file(folder, LOG_NAME) as log:
            size = log.seek(0, os.SEEK_END)
            start = max(0, size - most_bytes)
            log.seek(start)
            data = log.read(size - start)
    except OSError:
        return LogTail((), 0, 0)
    if start:
        # Begin with a whole line, or, where there is none, at least with a whole character.
        cut = data.find(b"\n") + 1
        while not cut and data and data[0] & 0xC0 == 0x80:
            data, start = data[1:], start + 1
        data, start = data[cut:], start + cut
    pieces = data.split(b"\n")
    if pieces and not pieces[-1]:
        pieces.pop()
    dropped = pieces[: max(0, len(pieces) - most_lines)]
    start += sum(len(piece) + 1 for piece in dropped)
    lines = tuple(shown_line(piece, longest_line) for piece in pieces[len(dropped) :])
    return LogTail(lines, size, start)


def shown_line(line: bytes, longest: int) -> str:
    """One line as text that is safe to show, cut where it is longer than `longest` characters."""
    versions = [part for part in line.split(b"\r") if part]
    text = versions[-1].decode("utf-8", "replace") if versions else ""
    text = _CONTROL.sub("", _ESCAPES.sub("", text.replace("\t", "    ")))
    if len(text) <= longest:
        return text
    return f"{text[:longest]} .. ({len(text) - longest:,} more characters)"
