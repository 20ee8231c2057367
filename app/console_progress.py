"""How far an install is, on standard error. Standard library only."""

from __future__ import annotations

import shutil
import sys
import time

from runners.environments.workbench import Step

_PLAIN_LINE_EVERY_S = 5.0


class ConsoleProgress:
    """An install's progress on standard error: one line kept up to date; in a file, a line now and then."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._live = sys.stderr.isatty()
        self._shown = ""
        self._printed_at = 0.0
        self._started = time.monotonic()

    def __enter__(self) -> ConsoleProgress:
        sys.stderr.write(f"{self._title}\n")
        sys.stderr.flush()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if kind is None:
            self.end("ready")
        elif self._live and self._shown:
            sys.stderr.write("\n")
            self._shown = ""

    def tell(self, step: Step) -> None:
        """Show `step`."""
        percent = "" if step.fraction is None else f"{step.fraction:4.0%} "
        line = f"  {step.seconds:4.0f} s {percent}{step.text}"
        now = time.monotonic()
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{line[:width]}")
            self._shown = line
        elif step.text != self._shown and now - self._printed_at >= _PLAIN_LINE_EVERY_S:
            sys.stderr.write(f"{line}\n")
            self._shown, self._printed_at = step.text, now
        sys.stderr.flush()

    def end(self, outcome: str) -> None:
        """Show how it ended, and after how long."""
        start = "\r\x1b[K" if self._live else ""
        sys.stderr.write(f"{start}  {time.monotonic() - self._started:4.0f} s {outcome}\n")
        sys.stderr.flush()
        self._shown = ""
