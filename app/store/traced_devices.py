"""The devices that a run's processes told of, from the beginnings of their traces: for lists of runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.store.device_names import qualified, role_prefix
from app.store.headers import header_fields
from runners.runs import run_files

TRACE_FOLDER = "trace"
FIRST_BYTES = 1 << 18
"""How far into a trace the devices are looked for: the framework tells them before it runs its first op."""
_MARKS = (b'["H"', b'["I"')

_known: dict[tuple[Path, int], dict[str, dict[str, Any]]] = {}
_MOST_KNOWN = 4096


def traced_devices(folder: Path) -> dict[str, dict[str, Any]]:
    """Facts about each device by its name in the run, ``stand_in`` among them; {} while none is told."""
    found: dict[str, dict[str, Any]] = {}
    try:
        names = run_files.names(folder, TRACE_FOLDER)
    except OSError:
        return {}
    for name in names:
        if not name.endswith(".jsonl"):
            continue
        try:
            trace = folder / name, run_files.facts(folder, f"{TRACE_FOLDER}/{name}").st_ino
            devices = _known.get(trace) or _read(folder, name)
        except OSError:
            continue
        if devices:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[trace] = devices
        found |= devices
    return found


def _read(folder: Path, name: str) -> dict[str, dict[str, Any]]:
    header: dict[str, Any] = {}
    with run_files.open_file(folder, f"{TRACE_FOLDER}/{name}") as trace:
        lines = trace.read(FIRST_BYTES).split(b"\0", 1)[0].split(b"\n")
    for line in lines[:-1]:  # what follows the last newline is torn
        if not line.startswith(_MARKS):
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            break
        if isinstance(record, list) and record and isinstance(record[-1], dict):
            header |= header_fields(record[-1])[0]
    devices, facts = header.get("devices"), header.get("device_map")
    prefix = role_prefix(header)
    known = facts if isinstance(facts, dict) else {}
    return {
        qualified(prefix, device): known[device] if isinstance(known.get(device), dict) else {}
        for device in (devices if isinstance(devices, list) else ())
        if isinstance(device, str)
    }
