"""A device's name in the whole run: in a run of several roles the process's role and rank stand before it."""

from __future__ import annotations

from typing import Any

DEVICE_FIELDS = ("device", "src", "dst", "requested", "assigned", "producer_requested")


def role_prefix(header: dict[str, Any]) -> str:
    """``worker:1/`` for a process that has a role, '' for one that has none."""
    role = header.get("role")
    if not isinstance(role, str) or not role:
        return ""
    rank = header.get("rank")
    return f"{role}:{rank if isinstance(rank, int) else 0}/"


def qualified(prefix: str, device: str) -> str:
    """The device's name in the run; one that names a role already, or none at all, stays as it is."""
    if not prefix or not device or "/" in device:
        return device
    return prefix + device


def qualify_fields(prefix: str, fields: dict[str, Any]) -> dict[str, Any]:
    """A key's fields with every device named as in the whole run."""
    if not prefix:
        return fields
    result = dict(fields)
    for name in DEVICE_FIELDS:
        if isinstance(result.get(name), str):
            result[name] = qualified(prefix, result[name])
    if isinstance(result.get("devices"), list):
        result["devices"] = [qualified(prefix, device) for device in result["devices"]]
    return result
