"""What a trace's header may hold, checked where it is read: all other code relies on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runners.runs import run_fields
from runners.runs.run_fields import Check, is_text, is_whole, list_of, mapping_of, record

_FIELDS: Mapping[str, Check] = {
    **dict.fromkeys(("framework", "framework_version", "role", "host", "python", "process", "root"), is_text),
    **dict.fromkeys(("default_device", "serialised"), is_text),
    **dict.fromkeys(("pid", "ppid", "rank", "wall_ns", "mono_ns"), is_whole),
    "argv": list_of(is_text),
    "devices": list_of(is_text),
    "device_map": run_fields.DEVICES,
    **dict.fromkeys(("source_notes", "played", "cuda_environment"), mapping_of(is_text)),
    "asked_for_gpus": mapping_of(is_whole),
    "host_copy": record(bytes=is_whole, ns=is_whole),
    "preflight": record(ended_after=is_whole),
}


def header_fields(header: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A header, or facts that came later, without fields of a wrong type, and the names of those.

    Nothing at all where it is nested too deeply.
    """
    try:
        made, odd = run_fields.plain(dict(header))
    except ValueError:
        return {}, ["nested too deeply"]
    made, wrong = run_fields.typed(_FIELDS, made)
    return made, [*wrong, *([odd] if odd else [])]
