"""Loads libraries from this environment's own packages right before the module that needs them is run.

An install puts this file into an environment as `_hopscope_preload`, with a .pth file that calls
`before_import` whenever Python starts there. Until that module is imported nothing is loaded. Python 3.9
and newer, standard library only.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
# Every start of Python in that environment comes by here, so what is not needed then is not imported.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def before_import(module: str, libraries: Sequence[str]) -> None:
    """Load `libraries`, paths within this folder, in this order and for all to link with, before `module`."""
    sys.meta_path.insert(0, _Finder(module, libraries))


def load(libraries: Sequence[str], folder: str = _FOLDER) -> list[str]:
    """Load what there is, and return in words what could not be loaded.

    What is not in `folder` may still be where the system's loader looks.
    """
    import ctypes

    missing = []
    for library in libraries:
        file = os.path.join(folder, library)
        try:
            ctypes.CDLL(file if os.path.exists(file) else os.path.basename(file), ctypes.RTLD_GLOBAL)
        except OSError as error:
            missing.append(str(error) if os.path.exists(file) else f"there is no {file}")
    return missing


class _Finder:
    """Finds one module as Python would, and gives it a loader that loads its libraries first."""

    def __init__(self, module: str, libraries: Sequence[str]) -> None:
        self._module = module
        self._libraries = libraries

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the one module; any other is left to the finders behind."""
        if name != self._module:
            return None
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            _wrap(spec.loader, self._module, self._libraries)
        return spec


def _wrap(loader: Any, name: str, libraries: Sequence[str]) -> None:
    run = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        missing = load(libraries)
        if missing:
            words = "; ".join(missing)
            raise ImportError(f"{name} needs libraries that cannot be loaded: {words}", name=name)
        run(module)

    loader.exec_module = exec_module
