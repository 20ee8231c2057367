"""The devices of a run as lists of runs show them: those it was given, else those that its traces know."""

from __future__ import annotations

from collections.abc import Sequence

from app.facts.devices import in_order, is_host
from app.store.traced_devices import traced_devices
from runners.runs.run import Run


def devices_of(run: Run) -> tuple[list[str], set[str]]:
    """The devices that a run was given, by the process's own names, and which of them are stand-ins."""
    facts = run.spec.get("device_map")
    known = facts if isinstance(facts, dict) else {}
    stand_ins = {name for name, fact in known.items() if isinstance(fact, dict) and fact.get("stand_in")}
    return list(known), stand_ins


def recorded_devices(run: Run) -> tuple[list[str], set[str]]:
    """As `devices_of`; of a run that was given none in particular, those that its trace knows."""
    devices, stand_ins = devices_of(run)
    if devices:
        return devices, stand_ins
    found = traced_devices(run.path)
    return without_host(in_order(found)), {device for device in found if found[device].get("stand_in")}


def without_host(devices: Sequence[str]) -> list[str]:
    """The devices beside the host; the host where there is nothing else."""
    return [device for device in devices if not is_host(device)] or list(devices)
