"""Finds Hopscope's clone and loads its recorder, under a private name that no program's module can have."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Any

CLONE_VARIABLE = "HOPSCOPE_CLONE"
PYTHON_VARIABLE = "HOPSCOPE_PYTHON"
_PRIVATE = "_hopscope"


class HopscopeError(RuntimeError):
    """Something that Hopscope needs is missing; the message says what to do."""


def clone() -> str:
    """The clone's folder: $HOPSCOPE_CLONE, or where this was installed from."""
    named = os.environ.get(CLONE_VARIABLE)
    folder = os.path.abspath(os.path.expanduser(named)) if named else _installed_from()
    if not os.path.isfile(os.path.join(folder, "probes", "boot.py")):
        where = f"${CLONE_VARIABLE} names" if named else "this was installed from"
        raise HopscopeError(
            f"Hopscope's clone is not in {folder}, which {where}: set {CLONE_VARIABLE} to its folder, "
            "or install again with pip install CLONE/hopscope"
        )
    return folder


def _installed_from() -> str:
    try:
        from ._installed_from import CLONE  # type: ignore[import-not-found, unused-ignore]  # in wheels only
    except ImportError:
        return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return str(CLONE)


def recorder(module: str) -> Any:
    """A module of the recorder; where the launcher has loaded it, that very one."""
    if _PRIVATE not in sys.modules:
        folder = os.path.join(clone(), "probes")
        spec = importlib.util.spec_from_file_location(
            _PRIVATE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        if spec is None or spec.loader is None:
            raise HopscopeError(f"{folder} holds no recorder")
        package = importlib.util.module_from_spec(spec)
        sys.modules[_PRIVATE] = package
        spec.loader.exec_module(package)
    return importlib.import_module(f"{_PRIVATE}.{module}")


def dashboard_python() -> str:
    """The interpreter that can read recordings, which is not this one."""
    named = os.environ.get(PYTHON_VARIABLE)
    environments = os.environ.get("HOPSCOPE_ENVS")
    folder = (
        os.path.join(os.path.expanduser(environments), "dashboard")
        if environments
        else os.path.join(clone(), ".venv")
    )
    python = named or os.path.join(folder, "bin", "python")
    if not os.access(python, os.X_OK):
        raise HopscopeError(
            f"the dashboard's interpreter, which reads recordings, is not at {python}: "
            f"python3 {os.path.join(clone(), 'app')} makes it (once), {PYTHON_VARIABLE} names another"
        )
    return python


def apart() -> dict[str, str]:
    """The environment of what runs in the dashboard's interpreter, without this program's own variables."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HOPSCOPE_A"))
    }
    return {**kept, "HOPSCOPE_TRACE": "0"}
