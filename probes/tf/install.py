"""Installs the TensorFlow recorder, once TensorFlow has been imported.

Nothing here may initialise the eager context: MultiWorkerMirroredStrategy would then refuse to start
("Collective ops must be configured at program startup"), and the devices could no longer be configured.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ..imports import after_import
from ..trace.recording import Recording
from . import (
    autograph,
    collectives,
    copy_speed,
    dataflow_hooks,
    definitions,
    devices,
    eager_hooks,
    function_hooks,
    gradients,
    memory,
    merges,
    op_stacks,
    python_ops,
    replicas,
    scopes,
    server_graphs,
    sessions,
    steps,
    syncs,
    variables,
    windows,
)


def install(recording: Recording, module: ModuleType) -> None:
    """Hook everything; `module` is the imported tensorflow package."""
    tf: Any = module
    recording.fact({"framework_version": tf.__version__})
    recording.sites.watch_threads()
    dataflow_hooks.install(recording)
    autograph.install(recording)
    definitions.install(recording)
    op_stacks.install(recording)
    graphs = function_hooks.install(recording)
    scopes.install(recording)
    eager_hooks.install(recording, graphs)
    gradients.install(recording)
    variables.install(recording)
    syncs.install(recording)
    collectives.install(recording)
    devices.install(recording)
    copy_speed.install(recording)
    memory.install(recording)
    merges.install(recording)
    server_graphs.install(recording)
    sessions.install(recording, graphs)
    python_ops.install(recording, graphs)
    windows.install(recording, graphs)
    replicas.install(recording, graphs)
    for name in steps.OPTIMIZER_MODULES:
        after_import(name, steps.hook_for(recording, name))
