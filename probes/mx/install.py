"""Installs the MXNet recorder, once MXNet has been imported."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ..trace.hop import HOST
from ..trace.recording import Recording
from . import (
    array_hooks,
    cached_ops,
    custom_ops,
    devices,
    exact,
    executors,
    gradients,
    kvstores,
    memory,
    op_hooks,
    played,
    replicas,
    roles,
    scopes,
    steps,
    symbols,
    syncs,
    tape,
)


def install(recording: Recording, module: ModuleType) -> None:
    """Hook everything; `module` is the imported mxnet package."""
    mx: Any = module
    recording.fact({"framework_version": mx.__version__, "default_device": HOST})
    recording.sites.watch_threads()
    played.install(recording)
    roles.install(recording)
    known = array_hooks.install(recording)
    drift = replicas.install(recording, known)
    gradients.install(recording, known)
    devices.install(recording, known)
    measured = exact.install(recording, known)
    recorded = tape.install(recording, known, measured)
    scopes.install(recording)
    eager = op_hooks.install(recording, known, recorded)
    mixed = eager.mixed
    syncs.install(recording, known, eager.uploads)
    custom_ops.install(known, recording.sites)
    sites = symbols.install(recording)
    executors.install(recording, known, sites, eager.refused.asked)
    cached_ops.install(recording, known, recorded, mixed, sites)
    drift.exchanged = kvstores.install(recording, known, mixed, measured).summed
    memory.install(recording, known, measured)
    steps.install(recording, drift.stepped, drift.apart.stepped, lambda: mixed.updating > 0)
