"""Starts recording in a user's process: waits for a framework to be imported, then installs its recorder."""

from __future__ import annotations

import atexit
import dataclasses
import importlib
import os
import sys
from types import ModuleType
from typing import Any

from .imports import Hook, after_import
from .trace.recording import Recording


@dataclasses.dataclass(frozen=True)
class Recorder:
    """How a framework's recorder is started."""

    framework: str
    after: str
    """The module after whose import it starts."""
    module: str
    """The module, in this package, whose `install` does it."""
    roles: tuple[str, str] | None = None
    """(environment variable, value), where it starts only in processes of that role."""


_SERVING = "DMLC_ROLE"
_RECORDERS = (
    Recorder("tensorflow", "tensorflow", "tf.install"),
    Recorder("mxnet", "mxnet", "mx.install"),
    # A parameter server never gets past `import mxnet`: it serves in there, and then exits.
    Recorder("mxnet", "mxnet.kvstore.kvstore", "mx.serving", (_SERVING, "server")),
    Recorder("mxnet", "mxnet.kvstore.kvstore", "mx.serving", (_SERVING, "scheduler")),
)
_PREPARATIONS: dict[str, str] = {"mxnet.libinfo": "mx.room"}
"""The module whose import comes before the framework's library -> the one whose `prepare` is called then."""


def start(run_dir: str) -> None:
    """Record this process into `run_dir`/trace from the moment it imports a framework."""
    for name, preparation in _PREPARATIONS.items():
        after_import(name, _preparer(preparation))
    for recorder in _RECORDERS:
        if recorder.roles is None or os.environ.get(recorder.roles[0]) == recorder.roles[1]:
            after_import(recorder.after, _installer(run_dir, recorder))


def _preparer(preparation: str) -> Hook:
    def prepare(module: ModuleType) -> None:
        _part(preparation).prepare(module)

    return prepare


def _part(name: str) -> Any:
    """A module of this package, under whatever name the package is loaded."""
    package = __name__.rsplit(".", 1)[0]
    return importlib.import_module(f"{package}.{name}")


def _installer(run_dir: str, recorder: Recorder) -> Hook:
    def install(module: ModuleType) -> None:
        try:
            recording = Recording(os.path.join(run_dir, "trace"), recorder.framework)
        except OSError as error:
            sys.stderr.write(f"hopscope: this run is not recorded: {error}\n")
            return
        atexit.register(recording.end)
        package = __name__.rsplit(".", 1)[0]
        importlib.import_module(f"{package}.{recorder.module}").install(recording, module)
        recording.start_ticking()

    return install
