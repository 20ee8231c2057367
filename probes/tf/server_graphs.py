"""Has a cluster's server leave the graphs that it places in the run's folder, for its coordinator to read.

A coordinator (ParameterServerStrategy) hands whole functions to workers. The worker places them, parts of
them on parameter servers, and no run metadata of that ever comes back. But TensorFlow can write every graph
on its way to execution into a folder (debug_data_dumper.h): once a function and worker, nothing per step. It
says so in standard error, whose descriptor is then exchanged (server_stderr.py): only where it was asked for.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from ..imports import after_import
from ..trace.frames import PASSING, stands_for
from ..trace.left_graphs import ENDING
from ..trace.recording import Recording
from .observed import EXACT
from .server_stderr import keep_quiet

VARIABLES = (
    "TF_DUMP_GRAPH_PREFIX",
    "TF_DUMP_GRAPH_NAME_FILTER",
    "TF_DUMP_GRAPH_GROUPS",
    "TF_DUMP_GRAPH_FMT",
)


ASKED = "HOPSCOPE_SERVER_GRAPHS"
"""Set to 1 by Hopscope's own programs, which have no descriptors of their own to be disturbed."""


def install(recording: Recording) -> None:
    """Switch it on in a process that makes a tf.distribute.Server, before that runs anything."""
    guard = recording.guard("graphs that a server places")

    def hook(module: ModuleType) -> None:
        owner: Any = module.Server  # type: ignore[attr-defined]  # known to TensorFlow only
        make = owner.__init__

        @stands_for(make)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            with guard:
                _switch_on(recording)
            with PASSING:
                make(self, *args, **kwargs)
            with guard:
                _tell_role(recording, self)

        owner.__init__ = __init__

    after_import("tensorflow.python.training.server_lib", hook)


def _switch_on(recording: Recording) -> None:
    if not any(os.environ.get(name) == "1" for name in (ASKED, EXACT)):
        return
    folder = os.path.join(recording.folder, f"{os.getpid()}{ENDING}")
    if not recording.folder or os.path.isdir(folder) or any(name in os.environ for name in VARIABLES):
        return  # done, or the user is looking at graphs: then the coordinator finds none, and says so
    os.makedirs(folder, exist_ok=True)
    os.environ.update(zip(VARIABLES, (folder, "*", "main", "BIN")))
    keep_quiet(recording)


def _tell_role(recording: Recording, server: Any) -> None:
    """Servers that are started by hand, without the launcher, have their role from their definition."""
    if os.environ.get("HOPSCOPE_ROLE"):
        return
    definition = server.server_def
    recording.fact({"role": definition.job_name, "rank": definition.task_index})
