"""Runs a function right after a module has been imported, without importing it early.

Every start of a Python comes by here where a shell attaches the recorder, most of them without a framework:
what is not needed before one is imported is not imported either.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any, Callable, Optional

    Hook = Callable[[ModuleType], None]
_hooks: dict[str, list[Hook]] = {}
_failed: dict[str, str] = {}


def after_import(name: str, hook: Hook) -> None:
    """Call `hook(module)` once `name` has been imported; at once if it already is.

    A hook that raises is told on stderr in one line; the import it follows succeeds all the same.
    """
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        _call(hook, module)
        return
    _hooks.setdefault(name, []).append(hook)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _call(hook: Hook, module: ModuleType) -> None:
    try:
        hook(module)
    except Exception as error:  # noqa: BLE001 - the user's import must not fail for the recorder's sake
        _tell(module.__name__, error)


def _tell(name: str, error: Exception) -> None:
    _failed[name] = f"{type(error).__name__}: {error}"
    sys.stderr.write(f"hopscope: can't record {name}: {type(error).__name__}: {error}\n")


class _Finder:
    """Finds the watched modules with the other finders, and gives them a loader that calls the hooks."""

    def find_spec(
        self, name: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None
    ) -> Optional[ModuleSpec]:
        if name not in _hooks:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    try:
                        _wrap(spec.loader, name)
                    except Exception as error:  # noqa: BLE001 - one that takes no attribute loads it as ever
                        _tell(name, error)
                return spec
        return None


def _wrap(loader: Any, name: str) -> None:
    run = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        try:
            run(module)
        except BaseException as error:
            from .trace.frames import drop_frame

            drop_frame(error)
            raise
        for hook in _hooks.pop(name, []):
            _call(hook, module)

    loader.exec_module = exec_module
