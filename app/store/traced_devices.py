"""The devices that a run's processes told of, from the beginnings of their traces: for lists of runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.store.device_names import qualified, role_prefix

TRACE_FOLDER = "trace"
FIRST_BYTES = 1 << 18
"""How far into a trace the devices are looked for: the framework tells them before it runs its first op."""
_MARKS = (b'["H"', b'["I"')

_known: dict[tuple[Path, int], dict[str, dict[str, Any]]] = {}
_MOST_KNOWN = 4096


def traced_devices(folder: Path) -> dict[str, dict[str, Any]]:
    """Facts about each device by its name in the run, ``stand_in`` among them; {} while none is told."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((folder / TRACE_FOLDER).glob("*.jsonl")):
        try:
            trace = path, path.stat().st_ino
            devices = _known.get(trace) or _read(path)
        except OSError:
            continue
        if devices:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[trace] = devices
        found |= devices
    return found


def _read(path: Path) -> dict[str, dict[str, Any]]:
    header: dict[str, Any] = {}
    with path.open("rb") as trace:
        lines = trace.read(FIRST_BYTES).split(b"\0", 1)[0].split(b"\n")
    for line in lines[:-1]:  # what follows the last newline is torn
        if not line.startswith(_MARKS):
            continue
        try:
            record = json.loads(line)
        except ValueError:
            break
        if isinstance(record, list) and isinstance(record[-1], dict):
            header |= record[-1]
    devices, facts = header.get("devices"), header.get("device_map")
    prefix = role_prefix(header)
    known = facts if isinstance(facts, dict) else {}
    return {
        qualified(prefix, device): known[device] if isinstance(known.get(device), dict) else {}
        for device in (devices if isinstance(devices, list) else ())
        if isinstance(device, str)
    }
