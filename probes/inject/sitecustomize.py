"""Brings the recorder into a Python process that Hopscope started, and into its Python children.

With $HOPSCOPE_ATTACH it does so where something else started them. Python imports `sitecustomize` from the
first folder of its path that has one; the launcher, or what `attach` prints, put this folder there. It takes
itself off the path again, runs the environment's own sitecustomize if there is one, and leaves `sys.path`,
`sys.argv` and `__main__` as they would have been. Nothing of the recorder's is importable under a name that a
program could use by accident.
"""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _absolute(folder: str) -> str:
    try:
        return os.path.abspath(folder)
    except OSError:  # the working directory is gone
        return folder


def _leave_the_path() -> None:
    sys.path[:] = [folder for folder in sys.path if _absolute(folder or ".") != _HERE]
    sys.path_importer_cache.pop(_HERE, None)


def _run_the_environments_own() -> None:
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


class _OwnLoader(importlib.machinery.SourceFileLoader):
    """Loads a module of the recorder's, and keeps no bytecode of it where a limit could cut that.

    Python 3.11 does not notice that a limit on file sizes cut it, and other processes then fail to load it.
    """

    def set_data(self, path: str, data: bytes, *, _mode: int = 0o666) -> None:  # type: ignore[override]  # only bytes come
        """Write the bytecode, if there is no such limit."""
        import resource

        if resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY:
            super().set_data(path, data, _mode=_mode)


class _OwnModules:
    """Finds the modules of the recorder's package."""

    @staticmethod
    def find_spec(
        name: str, path: "tuple[str, ...] | None" = None, target: object = None
    ) -> "importlib.machinery.ModuleSpec | None":
        """The spec of a module of ours; None for all others, which the next finder looks for."""
        if not name.startswith("_hopscope."):
            return None
        for folder in path or ():
            place = os.path.join(folder, name.rpartition(".")[2])
            for file, inside in ((os.path.join(place, "__init__.py"), [place]), (place + ".py", None)):
                if os.path.isfile(file):
                    loader = _OwnLoader(name, file)
                    return importlib.util.spec_from_file_location(
                        name, file, loader=loader, submodule_search_locations=inside
                    )
        return None


def _load_the_recorder() -> None:
    trace, run = os.environ.get("HOPSCOPE_TRACE"), os.environ.get("HOPSCOPE_RUN_DIR")
    attach = os.environ.get("HOPSCOPE_ATTACH")
    launched = trace == "1" and run
    if not launched and (trace == "0" or not attach):
        return
    folder = os.path.dirname(_HERE)
    root = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location(
        "_hopscope", root, loader=_OwnLoader("_hopscope", root), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        return
    sys.meta_path.insert(0, _OwnModules)  # type: ignore[arg-type]  # a sequence is more than it is given
    module = importlib.util.module_from_spec(spec)
    sys.modules["_hopscope"] = module
    spec.loader.exec_module(module)
    if launched:
        importlib.import_module("_hopscope.boot").start(run)
    else:
        importlib.import_module("_hopscope.attach.attached").start(attach)


_leave_the_path()
try:
    _load_the_recorder()
except Exception as error:  # noqa: BLE001 - whatever is wrong with the recorder, the user's program runs
    sys.stderr.write(f"hopscope: this run is not recorded: {type(error).__name__}: {error}\n")
_run_the_environments_own()
