"""The frameworks that programs run in, and what their environments are made of."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from pathlib import Path

from runners.errors import HopscopeError
from runners.virtualenv import Recipe

BUILDS = ("cpu", "gpu")
_REQUIREMENTS = Path(__file__).resolve().parent / "requirements"


@dataclasses.dataclass(frozen=True)
class Framework:
    """A framework that programs run in: its module, the Pythons it has builds for, and the disk it takes."""

    name: str
    title: str
    module: str
    oldest_python: tuple[int, int]
    newest_python: tuple[int, int]
    disk_bytes: dict[str, int]
    """By build."""

    def recipe(self, build: str) -> Recipe:
        """What an environment of this build holds."""
        stem = self.name if build == "cpu" else f"{self.name}-{build}"
        return read_recipe(stem, self.name, self.disk_bytes[build], build)


FRAMEWORKS = {
    "tensorflow": Framework(
        "tensorflow",
        "TensorFlow",
        "tensorflow",
        (3, 10),
        (3, 13),
        {"cpu": 2_100_000_000, "gpu": 10_000_000_000},
    ),
}


# Older versions that the recorder is tested with; programs do not run in these.
TESTED_BESIDE = {
    "2.15": Framework(
        "tensorflow-2.15",
        "TensorFlow 2.15",
        "tensorflow",
        (3, 9),
        (3, 11),
        {"cpu": 1_400_000_000},
    ),
}


def read_recipe(stem: str, label: str, disk_bytes: int, build: str) -> Recipe:
    """The recipe in runners/requirements/`stem`.txt and, where there is one, `stem`.no-deps.txt."""
    alone = _REQUIREMENTS / f"{stem}.no-deps.txt"
    return Recipe(
        label,
        (_REQUIREMENTS / f"{stem}.txt",),
        (alone,) if alone.exists() else (),
        disk_bytes,
        {"build": build},
    )


def choose_build() -> tuple[str, str]:
    """The build that suits this machine, `cpu` or `gpu`, and why: what NVML reports decides."""
    from runners.gpus import list_gpus

    found = list_gpus()
    if not found.cards:
        return "cpu", f"no GPU: {found.problem or 'NVML reports none'}"
    count = len(found.cards)
    return "gpu", f"NVML reports {count} GPU{'s' if count > 1 else ''}"


def base_python(framework: Framework) -> str:
    """An interpreter that `framework` has builds for: this one, or one on PATH."""
    oldest, newest = framework.oldest_python, framework.newest_python
    if oldest <= sys.version_info[:2] <= newest:
        return sys.executable
    for minor in range(newest[1], oldest[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        ask = "import ensurepip, venv"
        if found and subprocess.run([found, "-c", ask], capture_output=True, check=False).returncode == 0:
            return found
    raise HopscopeError(
        f"{framework.title} has builds for Python 3.{oldest[1]} to 3.{newest[1]} and this is"
        f" {sys.version_info[0]}.{sys.version_info[1]}; install one of them, with its venv module"
    )
