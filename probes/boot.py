"""Starts recording in a user's process: waits for a framework to be imported, then installs its recorder."""

from __future__ import annotations

import atexit
import importlib
import os
import sys
from types import ModuleType

from .imports import Hook, after_import
from .trace.recording import Recording

_RECORDERS: dict[str, str] = {"tensorflow": "tf.install", "mxnet": "mx.install"}
"""The module whose import starts a recorder -> the module, in this package, whose `install` does it."""


def start(run_dir: str) -> None:
    """Record this process into `run_dir`/trace from the moment it imports a framework."""
    for name, recorder in _RECORDERS.items():
        after_import(name, _installer(run_dir, name, recorder))


def _installer(run_dir: str, framework: str, recorder: str) -> Hook:
    def install(module: ModuleType) -> None:
        try:
            recording = Recording(os.path.join(run_dir, "trace"), framework)
        except OSError as error:
            sys.stderr.write(f"hopscope: this run is not recorded: {error}\n")
            return
        atexit.register(recording.end)
        package = __name__.rsplit(".", 1)[0]
        importlib.import_module(f"{package}.{recorder}").install(recording, module)
        recording.start_ticking()

    return install
