"""Interpreters that a script of a user's own may run in; what each has is asked in the background."""

from __future__ import annotations

import dataclasses
import os
import re
import threading
from collections.abc import Iterable
from pathlib import Path

from runners.environments.frameworks import FRAMEWORKS
from runners.environments.installed_versions import package_versions

OLDEST = (3, 9)
"""Python versions that the recorder runs on."""
_NAME = re.compile(r"(python|pypy)[0-9.]*")


@dataclasses.dataclass(frozen=True)
class Interpreter:
    """What is known of one interpreter."""

    python: Path
    checking: bool = False
    """It has not answered yet."""
    problem: str | None = None
    """Why no training can run in it, in words."""
    version: str = ""
    """Its Python's."""
    frameworks: dict[str, str] = dataclasses.field(default_factory=dict)
    """The frameworks that it has, with their versions."""

    @property
    def words(self) -> str:
        """``Python 3.11.7 with TensorFlow 2.21.0``; why not, where it cannot be used."""
        if self.checking:
            return f"asking {self.python} what it has"
        if self.problem:
            return self.problem
        named = [f"{FRAMEWORKS[name].title} {version}" for name, version in self.frameworks.items()]
        return f"Python {self.version} with {' and '.join(named)}"


_guard = threading.Lock()
_asking: dict[Path, threading.Thread] = {}
_known: dict[Path, Interpreter] = {}


def check(python: str | Path) -> Interpreter:
    """What an interpreter has, as far as is known by now; the first question starts asking it.

    Once known it is asked again with each call, which costs little until a package is installed there.
    """
    path = Path(os.path.abspath(Path(python).expanduser()))  # noqa: PTH100 - a link to a python stays one
    if problem := _cannot_be(path, str(python)):
        return Interpreter(path, problem=problem)
    with _guard:
        if path not in _asking:
            _asking[path] = threading.Thread(target=_ask, args=(path,), name="interpreter", daemon=True)
            _asking[path].start()
        elif path in _known and not _asking[path].is_alive():
            _known[path] = _judge(path, package_versions(path))
        return _known.get(path) or Interpreter(path, checking=True)


def _ask(path: Path) -> None:
    found = _judge(path, package_versions(path))
    with _guard:
        _known[path] = found
        if found.problem:
            # It may be mended, so the next question asks again.
            _asking.pop(path, None)


def _cannot_be(path: Path, given: str) -> str | None:
    """Why something is no interpreter, as far as can be said without running it."""
    if "\0" in given or not given.strip():
        return "no interpreter is named"
    if path.is_dir() or not path.exists():
        return _no_file(path)
    if not _NAME.fullmatch(path.name):
        return f"{path} is not named as an interpreter is: python, python3, python3.11"
    if not os.access(path, os.X_OK):
        return f"{path} cannot be run: permission denied"
    return None


def _no_file(path: Path) -> str:
    """What is there instead of an interpreter's file."""
    if path.is_dir():
        inner = path / "bin" / "python"
        hint = f"; did you mean {inner}?" if inner.exists() else ""
        return f"{path} is a folder, not an interpreter{hint}"
    if path.is_symlink() and not path.exists():
        return f"{path} leads to {path.readlink()}, which is gone: make that environment anew"
    return f"there is no Python interpreter at {path}"


def _judge(path: Path, versions: dict[str, str]) -> Interpreter:
    if not versions:
        return Interpreter(path, problem=f"{path} does not answer as a Python interpreter does")
    version = versions["python"]
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return Interpreter(path, problem=f"{path} is Python {version}; the recorder needs {oldest} or newer")
    has = {name: versions[name] for name in FRAMEWORKS if name in versions}
    if not has:
        titles = " nor ".join(one.title for one in FRAMEWORKS.values())
        return Interpreter(
            path,
            problem=f"{path} (Python {version}) has neither {titles}; install one there",
            version=version,
        )
    return Interpreter(path, version=version, frameworks=has)


def nearby(folders: Iterable[Path]) -> list[Path]:
    """The interpreters of virtual environments in these folders and one below, and of the shell's own."""
    found: dict[Path, None] = {}
    for folder in folders:
        for pattern in ("pyvenv.cfg", "*/pyvenv.cfg", ".*/pyvenv.cfg"):
            for file in sorted(folder.glob(pattern)):
                found[file.parent / "bin" / "python"] = None
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if place := os.environ.get(variable):
            found[Path(place) / "bin" / "python"] = None
    return [python for python in found if python.exists()]
