"""Which line of the user's code is responsible for what happens right now.

The site is the innermost frame outside the standard library and installed packages. Functions that a
framework rewrote (TensorFlow's AutoGraph) are mapped back to the lines the user wrote. A thread without
a user frame is charged to the line that started it.
"""

from __future__ import annotations

import itertools
import os
import sys
import sysconfig
import threading
from types import CodeType, FrameType
from typing import Any, Callable, Optional

from .cells import cell_name, is_cell
from .frames import PASSING, stands_for
from .guard import IGNORED

_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARY, _USER, _OURS = range(3)

COMPREHENSIONS = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"})
"""Names of code that stands in another function; from Python 3.12 on comprehensions have no frames."""

Span = tuple[int, int, int, int]
"""Line, column, last line and its column of an expression, as Python counts them."""
Define = Callable[[str, Optional[str], str, int, str], int]
"""(site, via, absolute file, line, function) -> location id."""


def _span(frame: FrameType) -> Span:
    """Where the expression stands that runs now; zeros before Python 3.11, which has no columns."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return 0, 0, 0, 0
    line, end_line, column, end_column = next(itertools.islice(positions(), frame.f_lasti // 2, None))
    return line or 0, column or 0, end_line or 0, end_column or 0


def _charged(function: Callable[..., Any], location: int) -> Callable[..., Any]:
    def charged(*args: Any, _charged_to: int = location, **kwargs: Any) -> Any:
        with PASSING:
            return function(*args, **kwargs)

    return charged


_CHARGED = _charged(print, 0).__code__


class Sites:
    """Finds the current location and gives each distinct one an id, by `define`, once."""

    def __init__(self, root: str, define: Define) -> None:
        """`root` is the script's folder: sites are relative to it."""
        self.root = root
        self.define = define
        self._whose: dict[str, int] = {}
        """Of each file that was met: _USER, _LIBRARY or _OURS."""
        self._spans: dict[str, dict[Span, int]] = {}
        self._rewritten: dict[str, dict[int, tuple[str, int, str]]] = {}
        # By the ids of code objects, whose own hash is slow; `_kept` keeps the ids from being taken again.
        self._known: dict[tuple[int, int, int], int] = {}
        self._kept: list[Optional[CodeType]] = []
        self._by_place: dict[tuple[str, int, Optional[str]], int] = {}
        paths = sysconfig.get_paths()
        self._library = tuple(
            {os.path.realpath(paths[k]) + os.sep for k in ("stdlib", "platstdlib", "purelib", "platlib")}
            | {paths[k] + os.sep for k in ("stdlib", "platstdlib", "purelib", "platlib")}
        )

    def add_rewritten(self, filename: str, lines: dict[int, tuple[str, int, str]]) -> None:
        """Say which (file, line, function) each line of a generated file came from."""
        self._rewritten[filename] = lines
        self._whose[filename] = _USER

    def add_spans(self, filename: str, spans: dict[Span, int]) -> None:
        """Say which line the expressions of a generated file came from, where its lines alone don't tell."""
        self._spans[filename] = spans

    def is_user(self, filename: str) -> bool:
        """Whether a file is the user's own code."""
        known = self._whose.get(filename)
        return (self._find_owner(filename) if known is None else known) == _USER

    def _find_owner(self, filename: str) -> int:
        real = _absolute(filename)
        if real.startswith(_OWN):
            owner = _OURS
        elif is_cell(filename):
            owner = _USER
        elif (
            filename.startswith("<")
            or any(part in filename for part in _INSTALLED)
            or real.startswith(self._library)
        ):
            owner = _LIBRARY
        else:
            owner = _USER
        self._whose[filename] = owner
        return owner

    def current(self, depth: int = 1) -> int:
        """The id of the user's location, looking from `depth` frames above the caller; 0 if none."""
        frame: Optional[FrameType] = sys._getframe(depth + 1)
        owners = self._whose
        below: Optional[CodeType] = None
        while frame is not None:
            code = frame.f_code
            owner = owners.get(code.co_filename)
            if owner is None:
                owner = self._find_owner(code.co_filename)
            if owner == _USER:
                key = (id(code), frame.f_lasti, id(below))
                known = self._known.get(key)
                if known is None:
                    known = self._locate(frame, below)
                    self._known[key] = known
                    self._kept += [code, below]
                if known:
                    return known
            elif owner == _LIBRARY:
                below = code  # a frame of the recorder's own is none of the program's
            elif code is _CHARGED:
                location: int = frame.f_locals["_charged_to"]
                return location
            frame = frame.f_back
        return getattr(threading.current_thread(), "_hopscope_started_at", 0)

    def charged(self, function: Callable[..., Any], location: int) -> Callable[..., Any]:
        """That function, such that what it does without user code of its own is charged to this location."""
        return _charged(function, location)

    def _locate(self, frame: FrameType, below: Optional[CodeType]) -> int:
        file, line, function = frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
        lines = self._rewritten.get(file)
        if lines is not None:
            origin = lines.get(line) or _nearest(lines, line)
            if origin is None or not self.is_user(origin[0]):
                return 0
            file, line, function = origin
            line = self._spans.get(frame.f_code.co_filename, {}).get(_span(frame), line)
        via = None
        if below is not None and not self.is_user(below.co_filename):
            via = f"{library_path(below.co_filename)}:{below.co_name}"
        return self.place(file, line, function, via)

    def place(self, file: str, line: int, function: str, via: Optional[str] = None) -> int:
        """The id of a location known by file and line."""
        cell = cell_name(file) if is_cell(file) else None
        file = file if is_cell(file) else _absolute(file)
        known = self._by_place.get((file, line, via))
        if known is None:
            relative = cell or (os.path.relpath(file, self.root) if os.path.isabs(file) else file)
            if relative.count("..") > 2:
                relative = file
            known = self.define(f"{relative}:{line}", via, file, line, function)
            self._by_place[(file, line, via)] = known
        return known

    def watch_threads(self) -> None:
        """From now on note the line that starts each thread."""
        start = threading.Thread.start
        sites = self

        @stands_for(start)
        def start_noted(thread: threading.Thread, *args: Any, **kwargs: Any) -> None:
            with IGNORED:  # a thread's own class may refuse attributes
                thread._hopscope_started_at = sites.current()  # type: ignore[attr-defined]
            with PASSING:
                start(thread, *args, **kwargs)

        threading.Thread.start = start_noted  # type: ignore[method-assign,assignment]


def _absolute(filename: str) -> str:
    """The same where that can't be told: the working directory is gone."""
    try:
        return os.path.abspath(filename)
    except OSError:
        return filename


def library_path(filename: str) -> str:
    """A library file's path as people know it: from the package on."""
    for part in _INSTALLED:
        if part in filename:
            return filename.rsplit(part, 1)[1]
    return os.path.basename(filename)


def _nearest(lines: dict[int, tuple[str, int, str]], line: int) -> Optional[tuple[str, int, str]]:
    """A rewritten statement's continuation lines have no entry: the closest earlier one is its start."""
    earlier = [n for n in lines if n <= line]
    return lines[max(earlier)] if earlier else None
