"""The folders whose scripts may be launched from the page: those that the server was started with, no others.

Paths are judged by where they lead, links followed: a link inside that leads out is outside.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from runners.errors import UsageError
from runners.typed_paths import possible

MOST_SCRIPTS = 500
MOST_ENTRIES = 20_000
"""Of folders with more in them only so much is looked through."""
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})

_allowed: tuple[Path, ...] = ()


def allow(folders: Iterable[str | Path]) -> None:
    """Allow these folders, and what is below them, in place of any before; UsageError for what is none."""
    global _allowed
    found = []
    for folder in folders:
        path = possible(os.path.realpath(Path(folder).expanduser()))
        if not path.is_dir():
            raise UsageError(f"--scripts {folder}: there is no such folder")
        if path not in found:
            found.append(path)
    _allowed = tuple(found)


def allowed() -> tuple[Path, ...]:
    """The allowed folders, links resolved; none where none was named."""
    return _allowed


def inside(path: str | Path) -> Path:
    """Where a path leads, links resolved; UsageError where that is in no allowed folder."""
    try:
        real = possible(os.path.realpath(Path(path).expanduser()))
    except (ValueError, RuntimeError):
        raise UsageError(f"{str(path)!r} is not a path") from None
    if not any(real.is_relative_to(folder) for folder in _allowed):
        raise UsageError(f"{path} leads to no folder whose scripts may be launched: {_named()}")
    return real


def _named() -> str:
    if not _allowed:
        return "none was named when the dashboard was started (serve --scripts FOLDER)"
    return f"they are {', '.join(map(str, _allowed))}"


def scripts(folder: Path) -> list[str]:
    """The scripts in an allowed folder, relative to it, the nearer ones first; not those of environments."""
    found = []
    for path in _python_files(inside(folder)):
        try:
            inside(path)
        except UsageError:
            continue
        found.append(str(path.relative_to(inside(folder))))
        if len(found) >= MOST_SCRIPTS:
            break
    return sorted(found, key=lambda name: (name.count(os.sep), name.lower()))


def _python_files(folder: Path) -> Iterator[Path]:
    """Nearest first, so that a full count leaves out what is far down."""
    level, seen = [folder], 0
    while level and seen < MOST_ENTRIES:
        below: list[Path] = []
        for place in level:
            try:
                entries = sorted(os.scandir(place), key=lambda entry: entry.name)
            except OSError:
                continue
            seen += len(entries)
            for entry in entries:
                if entry.name.startswith(".") or entry.name in _SKIPPED:
                    continue
                # Links to folders are not followed: they may lead round in a circle.
                if entry.is_dir(follow_symlinks=False):
                    if not Path(entry.path, "pyvenv.cfg").exists():
                        below.append(Path(entry.path))
                elif entry.name.endswith(".py") and entry.is_file():
                    yield Path(entry.path)
        level = below
