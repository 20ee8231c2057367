"""Making the locked sets anew: `python -m runners.environments.lock_files`, with the uv that installs.

Each is for all Pythons from the oldest that the environment is made with, and leads to wheels only.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from runners.environments import environments
from runners.environments.frameworks import FRAMEWORKS, LOCKED
from runners.environments.uv import find_uv

ROOT = Path(__file__).resolve().parents[2]
_REQUIREMENTS = LOCKED.parent
_DASHBOARD_PYTHON = (3, 11)
_OPTIONS = ("--universal", "--generate-hashes", "--only-binary", ":all:", "--no-header", "--no-annotate")


def main() -> int:
    """Write every file in requirements/locked; the exit status of the first uv that fails."""
    LOCKED.mkdir(exist_ok=True)
    for source, name, python in sources():
        options = [*_OPTIONS, *(["--no-deps"] if ".no-deps" in name else [])]
        oldest = f"{python[0]}.{python[1]}"
        command = [
            find_uv(environments.folder()) or "uv",
            "pip",
            "compile",
            "--quiet",
            *options,
            "--python-version",
            oldest,
        ]
        done = subprocess.run([*command, str(source), "-o", str(LOCKED / name)], check=False)
        if done.returncode:
            return done.returncode
    return 0


def sources() -> list[tuple[Path, str, tuple[int, int]]]:
    """Of each locked set the requirement file, its own name, and the oldest Python."""
    found = [
        (ROOT / "requirements.txt", "dashboard.txt", _DASHBOARD_PYTHON),
        (_REQUIREMENTS / "uv.txt", "uv.txt", _DASHBOARD_PYTHON),
    ]
    for framework in FRAMEWORKS.values():
        for build in framework.disk_bytes:
            recipe = framework.recipe(build)
            files = (*recipe.requirements, *recipe.without_dependencies)
            found += [(file, file.name, framework.oldest_python) for file in files]
    return found


if __name__ == "__main__":
    sys.exit(main())
