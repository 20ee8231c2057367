"""The progress that catalogued programs print: ``step 12/100 loss 0.4321 31.2 steps/s``."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from pathlib import Path

from app.store.log import LOG_NAME
from app.store.log_lines import LONGEST_LINE, STAGE, LogLines
from app.views.progress_data import RECENT_LINES, Progress
from runners.runs import run_files

LAST_BYTES = 1 << 16
"""How far from the log's end the last progress line is looked for."""
_MOST_POINTS = 10_000
_NUMBER = rb"[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|nan|inf)"
_LINE = re.compile(
    rb"\bstep (?P<step>\d{1,15})/(?P<total>\d{1,15})"
    rb"(?: loss (?P<loss>" + _NUMBER + rb"))?(?: (?P<rate>" + _NUMBER + rb") steps/s)?",
    re.IGNORECASE,
)


@dataclasses.dataclass(frozen=True)
class Point:
    """One progress line."""

    step: int
    total: int
    loss: float | None
    """None when the line has none; may be nan or infinite, as the program printed it."""
    rate: float | None
    """Steps a second."""


def parse_line(line: bytes) -> Point | None:
    """The progress that a line tells, None when it tells none."""
    match = _LINE.search(line)
    if match is None:
        return None
    loss, rate = (None if match[name] is None else float(match[name]) for name in ("loss", "rate"))
    return Point(int(match["step"]), int(match["total"]), loss, rate)


class ProgressReader:
    """Follows a run's log and keeps its progress: one to be kept as long as the run is looked at.

    Progress of a step that was told already is left out; beyond 10,000 points every other is dropped.
    """

    def __init__(self, folder: Path) -> None:
        """`folder` is the run's; its log may not be there yet."""
        self._lines = LogLines(folder)
        self._points: list[Point] = []
        self._every = 1
        self._skipped = 0
        self._last: Point | None = None

    def refresh(self) -> bool:
        """Read what was appended; true when there was progress in it."""
        before = self._last
        for line in self._lines.read():
            if line.startswith(STAGE):
                self._begin()
            elif b"step" in line.lower():
                point = parse_line(line)
                if point is not None:
                    self._add(point)
        return self._last is not before

    def progress(self) -> Progress:
        """All progress of the present stage so far; the last line is always in it."""
        points = list(self._points)
        if self._last is not None and (not points or points[-1] is not self._last):
            points.append(self._last)
        return _progress(points)

    def _begin(self) -> None:
        """A stage counts its own steps."""
        self._points, self._last = [], None
        self._every, self._skipped = 1, 0

    def _add(self, point: Point) -> None:
        if self._last is not None and point.step <= self._last.step:
            return
        self._last = point
        self._skipped += 1
        if self._skipped >= self._every:
            self._skipped = 0
            self._points.append(point)
        if len(self._points) > _MOST_POINTS:
            del self._points[1::2]
            self._every *= 2


def last_progress(folder: Path) -> Progress:
    """The latest progress, from the log's end: cheap, for lists of runs; empty when there is none.

    As many lines as the present speed is taken over.
    """
    try:
        with run_files.open_file(folder, LOG_NAME) as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(0, size - LAST_BYTES))
            lines = log.read(LAST_BYTES).replace(b"\r", b"\n").split(b"\n")
    except OSError:
        return _progress([])
    points: list[Point] = []
    for line in reversed(lines):
        if line.startswith(STAGE):
            break
        point = parse_line(line[:LONGEST_LINE])
        if point is not None:
            points.insert(0, point)
        if len(points) > RECENT_LINES:
            break
    return _progress(points)


def _progress(points: list[Point]) -> Progress:
    return Progress(
        steps=tuple(point.step for point in points),
        loss=tuple(_drawable(point.loss) for point in points),
        rate=tuple(_drawable(point.rate) for point in points),
        total=points[-1].total if points else None,
    )


def _drawable(value: float | None) -> float | None:
    """A loss that is no number leaves a gap in the curve."""
    return value if value is not None and math.isfinite(value) else None
