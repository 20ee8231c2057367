"""Drawing a text over and over in place: on a terminal's other screen, changed lines alone, in one write."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Self

from app.views.columns import clip, width

# The other screen, no cursor, and lines that end at the margin.
_ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
_LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
# A terminal that knows it shows all between these at once; others ignore it.
_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
_CLEAR = "\x1b[2J"


def can_redraw() -> bool:
    """Whether standard output is a terminal on which the cursor can be moved."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


class Screen:
    """A terminal's own screen for as long as `with` lasts; whatever ends that, the terminal is as before."""

    def __init__(self, resized: Callable[[], None]) -> None:
        """`resized` is called, in a signal's handler, where all has to be drawn anew."""
        self._resized = resized
        self._drawn: list[str] = []
        self._size = (0, 0)

    def __enter__(self) -> Self:
        self._write(_ENTER)
        signal.signal(signal.SIGWINCH, self._on_resize)
        signal.signal(signal.SIGTSTP, self._on_stop)
        return self

    def __exit__(self, *_failure: object) -> None:
        signal.signal(signal.SIGWINCH, signal.SIG_DFL)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        # A terminal that was closed has nothing to be restored.
        with contextlib.suppress(OSError):
            self._write(_LEAVE)

    def draw(self, text: str) -> None:
        """Show text from the top; what finds no room is told in the last line."""
        size = shutil.get_terminal_size()
        lines = fitted(text.splitlines(), size.columns, size.lines)
        written = [_BEGIN]
        if size != self._size:
            self._drawn, self._size = [], size
            written.append(_CLEAR)
        before = self._drawn + [""] * (len(lines) - len(self._drawn))
        shown = lines + [""] * (len(before) - len(lines))
        for row, (old, new) in enumerate(zip(before, shown, strict=True), start=1):
            if old != new:
                # Behind a full line the cursor is still on its last letter, which that would erase.
                rest = "" if width(new) == size.columns else "\x1b[K"
                written.append(f"\x1b[{row};1H{new}{rest}")
        written.append(_END)
        self._drawn = lines
        self._write("".join(written))

    def _on_resize(self, _number: int, _frame: FrameType | None) -> None:
        self._resized()

    def _on_stop(self, number: int, _frame: FrameType | None) -> None:
        """Give the terminal back while this process is stopped (Ctrl-Z), and take it again afterwards."""
        self._write(_LEAVE)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.signal(number, self._on_stop)
        self._size = (0, 0)
        self._write(_ENTER)
        self._resized()

    def _write(self, text: str) -> None:
        # Not through sys.stdout: a signal's handler may come in the middle of a write of its own.
        data = text.encode()
        while data:
            data = data[os.write(sys.stdout.fileno(), data) :]


def fitted(lines: list[str], columns: int, rows: int) -> list[str]:
    """The lines that find room, cut at the margin; the last one says how many did not."""
    if len(lines) > rows:
        left_out = len(lines) - rows + 1
        lines = [*lines[: rows - 1], f".. {left_out} more lines: make the window taller"]
    return [clip(line, columns) for line in lines]
