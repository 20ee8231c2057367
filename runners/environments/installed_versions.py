"""Which versions of what a Python interpreter would use: asked of that interpreter; nothing is imported."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

from runners.environments.frameworks import FRAMEWORKS

TIMEOUT_S = 20.0

# A build under another name (its beginning is in argv) is also given under the framework's own.
_ASK = """
import importlib.metadata, json, sys
found = {"python": "%d.%d.%d" % sys.version_info[:3]}
for package in importlib.metadata.distributions():
    name = (package.metadata["Name"] or "").lower().replace("_", "-")
    if name:
        found.setdefault(name, package.version)
for plain, prefixes in json.loads(sys.argv[1]).items():
    builds = sorted(name for name in found if name.startswith(tuple(prefixes)))
    if plain not in found and builds:
        found[plain] = found[builds[0]]
json.dump({"versions": found, "path": sys.path}, sys.stdout)
"""

_NAMES = json.dumps({one.name: one.other_packages for one in FRAMEWORKS.values()})

_guard = threading.Lock()
_known: dict[Path, tuple[tuple[str, ...], tuple[int, ...], dict[str, str]]] = {}


def package_versions(python: Path) -> dict[str, str]:
    """Return {"python": "3.11.7", "tensorflow": "2.21.0", ..}: every package by its lower-case name.

    Remembered until a package is installed or removed there. Empty when the interpreter cannot be asked.
    """
    with _guard:
        if python in _known:
            folders, changed, versions = _known[python]
            if _changed(folders) == changed:
                return dict(versions)
    try:
        answer = subprocess.run(
            [python, "-c", _ASK, _NAMES],
            cwd="/",
            env=os.environ | {"HOPSCOPE_TRACE": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=True,
        )
        found = json.loads(answer.stdout)
        versions = {"python": found["versions"].pop("python")} | dict(sorted(found["versions"].items()))
    except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError):
        return {}
    folders = (str(python), *found["path"])
    with _guard:
        _known[python] = (folders, _changed(folders), versions)
    return dict(versions)


def _changed(folders: tuple[str, ...]) -> tuple[int, ...]:
    """Return when each folder last changed: installing and removing packages does."""
    times = []
    for folder in folders:
        try:
            times.append(Path(folder).stat().st_mtime_ns)
        except OSError:
            times.append(0)
    return tuple(times)
