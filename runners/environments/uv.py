"""A Python for a framework that has no builds for this machine's: uv, from the package index, fetches it."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from runners.environments.frameworks import read_lock
from runners.environments.install import Workbench, install
from runners.environments.pip_output import PipOutput
from runners.environments.pythons import Version, find_python
from runners.environments.virtualenv import Recipe, VirtualEnvironment
from runners.errors import HopscopeError

_REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements" / "uv.txt"
_DISK_BYTES = 150_000_000
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_DOWNLOADING = re.compile(r"^\s*Downloading cpython-(\d+\.\d+\.\d+)\S*(?: \(download\))?(?: \(([^)]+)\))?")
_ERROR = re.compile(r"^\s*(?:error|cause|Caused by): (.+)")
_NO_NETWORK = re.compile(
    r"dns error|error sending request|client error \(Connect\)|timed out|Connection refused"
)


class UvOutput(PipOutput):
    """Follows `uv python install` line by line."""

    def feed(self, line: str) -> None:
        """Take one line of uv's output, with or without its line end."""
        line = _COLOR.sub("", line.rstrip())
        if found := _DOWNLOADING.match(line):
            version, size = found.groups()
            self.step = f"downloading Python {version}" + (f", {size}" if size else "")
        elif found := _ERROR.match(line):
            self._errors.append(found.group(1))
            if _NO_NETWORK.search(line):
                self._network = line

    def failure(self) -> str | None:
        """Why uv failed, in part of a line; None if it did not say."""
        if self._network is not None:
            return (
                "no network: the site that uv fetches Pythons from does not answer"
                " (UV_PYTHON_INSTALL_MIRROR names another)"
            )
        return self._errors[0] if self._errors else None


def fetched_folder(side: Path) -> Path:
    """Where the Pythons are that `fetch_python` got for the environments in `side`."""
    return side / "pythons"


def fetch_python(
    title: str, oldest: Version, newest: Version, side: Path, work: Workbench, locked: bool = False
) -> str:
    """Fetch the newest Python that `title` has builds for, and return its interpreter.

    uv comes from PATH, or from an environment of its own in `side`. HopscopeError says what to install where
    that cannot be done.
    """
    needs = f"{title} needs Python {_text(oldest)} to {_text(newest)}, and none that works is on this machine"
    try:
        _fetch(_text(newest), side, work, locked)
    except HopscopeError as error:
        raise HopscopeError(f"{needs}; {error}; {_todo(newest)}") from None
    found = find_python(oldest, newest, fetched_folder(side))
    if found is None:
        raise HopscopeError(f"{needs}; the one that uv fetched does not work here; {_todo(newest)}")
    return found


def _fetch(version: str, side: Path, work: Workbench, locked: bool) -> None:
    uv = shutil.which("uv") or _own_uv(side, work, locked)
    output = UvOutput(f"fetching Python {version}")
    variables = {
        "UV_PYTHON_INSTALL_DIR": str(fetched_folder(side)),
        "UV_PYTHON_INSTALL_BIN": "0",
        "UV_NO_PROGRESS": "1",
        "UV_NO_CACHE": "1",
    }
    if work.run([uv, "python", "install", version], output, variables):
        raise HopscopeError(f"uv could not fetch one ({output.failure() or f'log: {work.log}'})")


def _own_uv(side: Path, work: Workbench, locked: bool) -> str:
    environment = VirtualEnvironment(side / "uv", side, "uv")
    lock = read_lock("uv") if locked else None
    recipe = Recipe("uv", (_REQUIREMENTS,), disk_bytes=_DISK_BYTES, lock=lock)
    try:
        install(environment, recipe, sys.executable, lambda step: work.tell(f"getting uv: {step.text}", None))
    except HopscopeError as error:
        raise HopscopeError(f"uv, which would fetch one, could not be had ({error})") from None
    return str(environment.path / "bin" / "uv")


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def _todo(newest: Version) -> str:
    python = f"python{_text(newest)}"
    return (
        f"install Python {_text(newest)} (apt-get install {python} {python}-venv, dnf install {python} or"
        f" pyenv install {_text(newest)}) and try again"
    )
