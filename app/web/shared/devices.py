"""Devices as the tables and facts of a page show them: each with its hue, stand-ins labelled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from app.views.colors import device_colors, is_host


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


def devices_cell(devices: Sequence[str], stand_ins: Collection[str]) -> dict[str, Any]:
    """A table cell of a run's devices; where all are stand-ins, that is said once."""
    alike = bool(devices) and all(device in stand_ins for device in devices)
    shown = badges(devices, (), () if alike else stand_ins)
    return {"devices": shown, "remark": "stand-ins" if alike else "", "sort": len(devices)}
