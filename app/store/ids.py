"""Ids that are unique over a run: the process's index in the high half, the process's own id in the low."""

from __future__ import annotations

from typing import Any

SHIFT = 32
LOW = (1 << SHIFT) - 1


def global_id(process: int, own: int) -> int:
    """The run's id for a process's own id; 0, none, stays 0."""
    return (process << SHIFT) + own if own else 0


def globalize_fields(process: int, fields: dict[str, Any]) -> dict[str, Any]:
    """A key's fields with the ids in them (graph, loc and all that end in _loc or _locs) made unique."""
    if not process:
        return fields
    result = dict(fields)
    for name, value in fields.items():
        if _names_an_id(name) and isinstance(value, int):
            result[name] = global_id(process, value)
        elif name.endswith("_locs") and isinstance(value, list):
            result[name] = [global_id(process, own) for own in value]
        elif name == "facts" and isinstance(value, dict):
            result[name] = globalize_fields(process, value)
    return result


def _names_an_id(name: str) -> bool:
    return name in ("graph", "loc") or name.endswith("_loc")
