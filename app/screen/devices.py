"""Devices as the tables and facts of a page show them: each with its hue, stand-ins labelled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from app.analysis.devices import in_order
from app.store.traced_devices import traced_devices
from app.views.colors import device_colors, is_host
from runners.run import Run


def badges(
    devices: Sequence[str], all_devices: Iterable[str] = (), stand_ins: Collection[str] = ()
) -> list[dict[str, str]]:
    """Badges of some devices of a run; with `all_devices` the hues agree with every other view of it."""
    hues = device_colors([*all_devices, *devices])
    return [
        {
            "device": device,
            "hue": hues[device],
            "remark": "host" if is_host(device) else "stand-in" if device in stand_ins else "",
        }
        for device in devices
    ]


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


def devices_cell(devices: Sequence[str], stand_ins: Collection[str]) -> dict[str, Any]:
    """A table cell of a run's devices; where all are stand-ins, that is said once."""
    alike = bool(devices) and all(device in stand_ins for device in devices)
    shown = badges(devices, (), () if alike else stand_ins)
    return {"devices": shown, "remark": "stand-ins" if alike else "", "sort": len(devices)}
