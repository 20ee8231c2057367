"""A device's name in the whole run: in a run of several roles the process's role and rank stand before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from probes.trace.rows import Process

DEVICE_FIELDS = ("device", "src", "dst", "requested", "assigned", "producer_requested")
DEVICE_LISTS = ("devices", "reads")
DEVICE_FACTS = ("forward_requested", "producer_forward_requested", "summed_on")
"""Facts of a hop that name a device."""
DEVICE_LIST_FACTS = ("exchange_devices",)


def role_prefix(header: dict[str, Any]) -> str:
    """``worker:1/`` for a process that has a role, '' for one that has none."""
    role = header.get("role")
    if not isinstance(role, str) or not role:
        return ""
    rank = header.get("rank")
    return f"{role}:{rank if isinstance(rank, int) else 0}/"


def process_names(processes: Sequence[Process]) -> dict[int, str]:
    """What each process is called in its run, by index: its role and rank, else its pid; '' of a single one.

    Where several have one role and rank, as a worker and its child, the pid stands behind.
    """
    if len(processes) < 2:
        return {process.index: "" for process in processes}
    roles = {process.index: role_prefix(process.header).rstrip("/") for process in processes}
    pids = {process.index: f"{roles[process.index]} pid {process.pid}".strip() for process in processes}
    files = {process.index: process.name for process in processes}
    known = [Counter(names.values()) for names in (roles, pids)]
    return {
        number: roles[number]
        if roles[number] and known[0][roles[number]] == 1
        else pids[number]
        if known[1][pids[number]] == 1
        else files[number]
        for number in roles
    }


def qualified(prefix: str, device: str) -> str:
    """The device's name in the run; one that names a role already, or none at all, stays as it is."""
    if not prefix or not device or "/" in device:
        return device
    return prefix + device


def qualify_fields(prefix: str, fields: dict[str, Any]) -> dict[str, Any]:
    """A key's fields with every device named as in the whole run."""
    if not prefix:
        return fields
    result = _qualify(prefix, fields, DEVICE_FIELDS, DEVICE_LISTS)
    if isinstance(result.get("facts"), dict):
        result["facts"] = _qualify(prefix, result["facts"], DEVICE_FACTS, DEVICE_LIST_FACTS)
    return result


def _qualify(
    prefix: str, fields: dict[str, Any], names: Iterable[str], lists: Iterable[str]
) -> dict[str, Any]:
    result = dict(fields)
    for name in names:
        if isinstance(result.get(name), str):
            result[name] = qualified(prefix, result[name])
    for name in lists:
        if isinstance(result.get(name), list):
            result[name] = [qualified(prefix, str(device)) for device in result[name]]
    return result
