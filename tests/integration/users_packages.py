"""A folder of packages as a user's environment would have it: `hopscope` installed, pytest beside it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
import zipfile
from pathlib import Path

from runners.plan.plan import ROOT

_PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def install_hopscope(folder: Path) -> Path:
    """Unpack the wheel that `pip install CLONE/hopscope` would; returns the folder."""
    spec = importlib.util.spec_from_file_location("build_wheel", ROOT / "hopscope" / "build_wheel.py")
    assert spec is not None
    assert spec.loader is not None
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / backend.build_wheel(str(folder))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    wheel.unlink()
    return folder


def add_pytest(folder: Path) -> Path:
    """Put this process's pytest beside it: it is Python alone, so that any interpreter can use it."""
    for name in _PYTEST:
        for file in importlib.metadata.files(name) or ():
            top = Path(str(file)).parts[0]
            target = folder / top
            if top not in ("..", "__pycache__") and not target.exists():
                target.symlink_to(Path(str(file.locate())).parents[len(Path(str(file)).parts) - 1] / top)
    return folder


def environment(folder: Path, home: Path) -> dict[str, str]:
    """What a user's program gets; the interpreter that reads recordings is this one."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("HOPSCOPE_")}
    return {
        **plain,
        "PYTHONPATH": str(folder),
        "HOPSCOPE_HOME": str(home),
        "HOPSCOPE_PYTHON": sys.executable,
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "PYTEST_ADDOPTS": "",
    }
