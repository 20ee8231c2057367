"""The interpreters that an environment can be made with: uv finds one on this machine, or fetches it."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

_FIND_TIMEOUT_S = 20.0
BASE = getattr(sys, "_base_executable", sys.executable)
"""This interpreter outside of its environment, which may be made anew."""


@dataclasses.dataclass(frozen=True)
class PythonRange:
    """The versions of Python that something has builds for."""

    title: str
    """Whose builds."""
    oldest: tuple[int, int]
    newest: tuple[int, int]

    @property
    def here(self) -> bool:
        """Whether this interpreter is one of them."""
        return self.oldest <= sys.version_info[:2] <= self.newest

    @property
    def request(self) -> str:
        """What uv is asked for: this interpreter where it fits."""
        (major, minor), (_, newest) = self.oldest, self.newest
        return BASE if self.here else f">={major}.{minor},<{major}.{newest + 1}"

    def missing(self, why: str) -> str:
        """What to do where uv finds none and cannot fetch one."""
        oldest, newest = (f"{major}.{minor}" for major, minor in (self.oldest, self.newest))
        python = f"python{newest}"
        return (
            f"{self.title} needs Python {oldest} to {newest}, none that works is on this machine, and uv"
            f" could not fetch one ({why}); install Python {newest} (apt-get install {python}, dnf"
            f" install {python} or pyenv install {newest}) and try again"
        )


THIS = PythonRange("Hopscope", sys.version_info[:2], sys.version_info[:2])
"""The interpreter that runs this."""


def search_path() -> str:
    """PATH, and behind it where pyenv and uv keep Pythons: a shim of pyenv's may be of no use."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    kept = [*pyenv.glob("*/bin"), *(data / "uv" / "python").glob("*/bin")]
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *map(str, sorted(kept, reverse=True))])


def is_on_machine(wanted: PythonRange, uv: str | None, folder: Path) -> bool:
    """Whether one that fits is here, as far as `uv` can be asked; `folder` has those that it fetched."""
    if wanted.here or uv is None:
        return wanted.here
    variables = {**os.environ, "PATH": search_path(), "UV_PYTHON_INSTALL_DIR": str(folder)}
    find = [uv, "python", "find", "--no-project", "--no-cache", "--no-python-downloads", wanted.request]
    try:
        done = subprocess.run(
            find,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_FIND_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
