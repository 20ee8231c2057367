"""Which colour means what: one hue a device, one strong colour for what needs attention, grey for the rest.

The colours themselves stand in app/components/shared/palette.json.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Self

from app.components.shared.palette import HUES, PALETTES, named

_DEVICE = re.compile(r"^(?:(?P<task>.+)/)?(?P<type>[a-z_]+):(?P<index>\d+)$")


@dataclasses.dataclass(frozen=True)
class Theme:
    """The colours that figures are made with."""

    hues: tuple[str, ...]
    """One a device."""
    host: str
    alert: str
    """Warnings and errors."""
    quiet: str
    """Transfers that are as they should be."""
    text: str
    muted: str
    background: str
    panel: str
    """Slightly apart from the background: heads, empty cells."""
    grid: str
    ramp: tuple[str, ...]
    """Five steps from little to much, for sizes."""
    bright: str
    """Text on the upper two steps of the ramp; `text` on the lower three."""

    @classmethod
    def of(cls, colors: dict[str, str]) -> Self:
        """From a table of names to colours."""
        single = {field.name for field in dataclasses.fields(cls)} - {"hues", "ramp"}
        return cls(
            hues=tuple(colors[f"hue{index}"] for index in range(HUES)),
            ramp=tuple(colors[f"ramp{index}"] for index in range(5)),
            **{name: colors[name] for name in single},
        )


LIGHT = Theme.of(PALETTES["light"])
DARK = Theme.of(PALETTES["dark"])
LIVE = Theme.of({name: named(name) for name in PALETTES["light"]})
"""Colours by name, resolved in the browser by the page's background: what live components are given."""


def is_host(device: str) -> bool:
    """Whether this is a process's host, ``cpu:0`` or ``worker:1/cpu:0``."""
    return device.rpartition("/")[2] == "cpu:0"


def device_colors(devices: Iterable[str], theme: Theme = LIVE) -> dict[str, str]:
    """The colour of each device of a run, the same for every view that is given the same devices.

    A device has the hue of its ordinal (``gpu:2`` the third; stand-ins count from ``cpu:1``), so it keeps
    it over runs; where two devices of one run would share a hue, the later one takes the next free.
    """
    colors: dict[str, str] = {}
    taken: set[int] = set()
    size = len(theme.hues)
    for device in sorted(set(devices), key=device_order):
        if is_host(device):
            colors[device] = theme.host
            continue
        match = _DEVICE.match(device)
        wanted = int(match["index"]) - (match["type"] == "cpu") if match else 0
        free = [hue for offset in range(size) if (hue := (wanted + offset) % size) not in taken]
        hue = free[0] if free else wanted % size
        taken.add(hue)
        colors[device] = theme.hues[hue]
    return colors


def device_order(device: str) -> tuple[int, str, str, int]:
    """Sort key: accelerators before hosts, by task, type and ordinal."""
    match = _DEVICE.match(device)
    if match is None:
        return (1, "", device, 0)
    return (2 if is_host(device) else 0, match["task"] or "", match["type"], int(match["index"]))


def is_alert(severity: str) -> bool:
    """Whether a severity is drawn in the strong colour."""
    return severity in ("warning", "error")


def with_alpha(color: str, alpha: float) -> str:
    """The colour with transparency, in the form that Plotly takes; a named one as ``var(--hs-hue0,0.2)``."""
    if color.startswith("var("):
        return f"{color[:-1]},{alpha:g})"
    red, green, blue = (round(value * 255) for value in _channels(color))
    return f"rgba({red},{green},{blue},{alpha:g})"


def _channels(color: str) -> tuple[float, float, float]:
    return int(color[1:3], 16) / 255, int(color[3:5], 16) / 255, int(color[5:7], 16) / 255
