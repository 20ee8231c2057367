"""Devices by name, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Iterable

from runners.device_names import Device, default_device, is_gpu, is_host, parse

__all__ = ["Device", "default_device", "in_order", "is_gpu", "is_host", "parse"]


def in_order(names: Iterable[str], host_last: bool = False) -> list[str]:
    """Each name once: by process, CPUs before GPUs, by number; with `host_last` a process's host at its end.

    Processes go by role and rank, those that have nothing but their host after the others.
    """
    found = {name: parse(name) for name in names}
    busy = {device.role for name, device in found.items() if device and not is_host(name)}

    def position(name: str) -> tuple[bool, tuple[str, int], bool, str, int, str]:
        device = found[name]
        if device is None:
            return (True, ("~", 0), False, "", 0, name)
        role, _, rank = device.role.rpartition(":")
        process = (role or device.role, int(rank) if rank.isdigit() else 0)
        idle = device.role not in busy
        return (idle, process, host_last and is_host(name), device.type, device.index, name)

    return sorted(found, key=position)
