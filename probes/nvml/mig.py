"""The MIG instances of a card."""

from __future__ import annotations

from typing import Any

from .calls import Nvml, text_of
from .memory import read_memory
from .missing import is_missing


def read_mig(nvml: Nvml, handle: Any) -> Any:
    """Return the instances, each {uuid, gpu_instance, compute_instance, name, memory_total_bytes,
    memory_used_bytes}; or why there is nothing to tell.
    """
    most = nvml.ask("nvmlDeviceGetMaxMigDeviceCount", handle)
    if is_missing(most):
        return most
    found = []
    for index in range(int(most)):
        # There are holes: an instance keeps its index when another is destroyed.
        code, instance = nvml.code_of("nvmlDeviceGetMigDeviceHandleByIndex", handle, index)
        if code:
            continue
        memory = read_memory(nvml, instance)
        found.append(
            {
                "uuid": text_of(nvml.ask("nvmlDeviceGetUUID", instance)),
                "gpu_instance": nvml.ask("nvmlDeviceGetGpuInstanceId", instance),
                "compute_instance": nvml.ask("nvmlDeviceGetComputeInstanceId", instance),
                "name": text_of(nvml.ask("nvmlDeviceGetName", instance)),
                "memory_total_bytes": memory["memory_total_bytes"],
                "memory_used_bytes": memory["memory_used_bytes"],
            }
        )
    return found
