"""The interpreters of this machine that an environment can be made with."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

Version = tuple[int, int]

_ASK_TIMEOUT_S = 20.0
_ASK = "import ensurepip, sys, venv; print(*sys.version_info[:2])"


def find_python(oldest: Version, newest: Version, fetched: Path) -> str | None:
    """Return an interpreter from `oldest` to `newest` that works and can make environments; None without one.

    This one where it fits; else the newest on PATH, among pyenv's and uv's, or in the folder `fetched`.
    """
    if oldest <= sys.version_info[:2] <= newest:
        return sys.executable
    found: dict[Version, str] = {}
    for minor in range(newest[1], oldest[1] - 1, -1):
        for candidate in _candidates(newest[0], minor, fetched):
            if _version(candidate) == (newest[0], minor):
                return str(candidate)
    for name in ("python3", "python"):
        for candidate in _on_path(name):
            version = _version(candidate)
            if version is not None and oldest <= version <= newest:
                found.setdefault(version, str(candidate))
    return found[max(found)] if found else None


def _candidates(major: int, minor: int, fetched: Path) -> Iterator[Path]:
    name = f"python{major}.{minor}"
    yield from _on_path(name)
    # A shim of pyenv's on PATH does not work where that version is not the chosen one.
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python")
    yield from sorted(pyenv.glob(f"{major}.{minor}.*/bin/{name}"))
    for folder in (uv, fetched):
        yield from sorted(folder.glob(f"cpython-{major}.{minor}.*/bin/{name}"))


def _on_path(name: str) -> Iterator[Path]:
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        file = Path(folder) / name
        if folder and os.access(file, os.X_OK) and file.is_file():
            yield file.absolute()


def _version(python: Path) -> Version | None:
    """The version of an interpreter that works and can make environments."""
    try:
        answer = subprocess.run(
            [python, "-I", "-c", _ASK],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ASK_TIMEOUT_S,
            check=True,
        ).stdout.split()
        return int(answer[0]), int(answer[1])
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return None
