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


def _load_the_recorder() -> None:
    trace, run = os.environ.get("HOPSCOPE_TRACE"), os.environ.get("HOPSCOPE_RUN_DIR")
    attach = os.environ.get("HOPSCOPE_ATTACH")
    launched = trace == "1" and run
    if not launched and (trace == "0" or not attach):
        return
    folder = os.path.dirname(_HERE)
    spec = importlib.util.spec_from_file_location(
        "_hopscope", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        return
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
