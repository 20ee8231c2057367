"""A card's memory: what the driver reserves for itself is told apart from what is used."""

from __future__ import annotations

from typing import Any

from .calls import Nvml
from .missing import UNSUPPORTED, absent, is_missing

_V2 = 0x2000028
"""nvmlMemory_v2 of nvml.h: the struct's size, 40, and its version."""

_NAMES = ("memory_total_bytes", "memory_used_bytes", "memory_reserved_bytes", "memory_free_bytes")


def read_memory(nvml: Nvml, handle: Any) -> dict[str, Any]:
    """Return total, used (without reserved), reserved and free bytes."""
    info = nvml.ask("nvmlDeviceGetMemoryInfo", handle, nvml.constant("nvmlMemory_v2", _V2))
    if not is_missing(info):
        return _told(info, int(info.reserved))
    if info["state"] != UNSUPPORTED:
        return dict.fromkeys(_NAMES, info)
    # Drivers before 510 have only the first version, whose `used` holds what is reserved.
    older = nvml.ask("nvmlDeviceGetMemoryInfo", handle)
    if not is_missing(older):
        return _told(older, absent("this driver does not tell it apart from what is used"))
    return dict.fromkeys(_NAMES, info)


def _told(info: Any, reserved: Any) -> dict[str, Any]:
    return {
        "memory_total_bytes": int(info.total),
        "memory_used_bytes": int(info.used),
        "memory_reserved_bytes": reserved,
        "memory_free_bytes": int(info.free),
    }
