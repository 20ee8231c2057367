"""The project's colours: one hue a device, one strong colour for what needs attention, grey for the rest.

The hues are told apart with protanopia, deuteranopia and tritanopia too (tests/unit/test_views_colors.py
measures it); a hue keeps its place in both themes and only changes its lightness.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

HUES_LIGHT = ("#164bb3", "#e3a322", "#9b5cd9", "#1f8767", "#f277cf", "#464a04", "#10b0f2", "#7a2a4c")
HUES_DARK = ("#4a83fa", "#ffc247", "#c2a0ff", "#1fcf9a", "#f283cb", "#767711", "#8fe0ff", "#a8437a")

_DEVICE = re.compile(r"^(?:(?P<task>.+)/)?(?P<type>[a-z_]+):(?P<index>\d+)$")


@dataclasses.dataclass(frozen=True)
class Theme:
    """The colours that figures need and can't take from the page's style sheet."""

    dark: bool
    hues: tuple[str, ...]
    host: str
    """The host's grey."""
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
    """From little to much, one hue, for sizes."""


LIGHT = Theme(
    dark=False,
    hues=HUES_LIGHT,
    host="#868e99",
    alert="#e0401c",
    quiet="#9aa1ab",
    text="#31333f",
    muted="#6b7079",
    background="#ffffff",
    panel="#f0f2f6",
    grid="#e3e5ea",
    ramp=("#eef1f5", "#cfd8e3", "#a3b3c6", "#71879f", "#435a73"),
)
DARK = Theme(
    dark=True,
    hues=HUES_DARK,
    host="#8b949e",
    alert="#ff7557",
    quiet="#7d8590",
    text="#fafafa",
    muted="#a3a8b4",
    background="#0e1117",
    panel="#1a1d26",
    grid="#2b2f3a",
    ramp=("#1b212b", "#2a3644", "#42566c", "#68839f", "#a5bcd4"),
)


def theme(dark: bool) -> Theme:
    """The theme's colours."""
    return DARK if dark else LIGHT


def is_host(device: str) -> bool:
    """Whether this is a process's host, ``cpu:0`` or ``worker:1/cpu:0``."""
    return device.rpartition("/")[2] == "cpu:0"


def device_colors(devices: Iterable[str], theme: Theme) -> dict[str, str]:
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


def severity_color(severity: str, theme: Theme) -> str:
    """The colour of a transfer or finding: strong for warnings and errors, else quiet."""
    return theme.alert if is_alert(severity) else theme.quiet


def text_on(color: str) -> str:
    """Black or white, whichever reads better on this colour."""
    lum = luminance(color)
    return "#ffffff" if 1.05 / (lum + 0.05) >= (lum + 0.05) / 0.05 else "#000000"


def luminance(color: str) -> float:
    """Relative luminance of ``#rrggbb``, 0 to 1 (WCAG 2)."""
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in _channels(color)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def mix(color: str, other: str, share: float) -> str:
    """`share` of `color` over `other`, in sRGB."""
    pairs = zip(_channels(color), _channels(other), strict=True)
    return "#" + "".join(f"{round((a * share + b * (1 - share)) * 255):02x}" for a, b in pairs)


def with_alpha(color: str, alpha: float) -> str:
    """The colour as ``rgba(...)``, the form that Plotly takes for transparency."""
    red, green, blue = (round(value * 255) for value in _channels(color))
    return f"rgba({red},{green},{blue},{alpha:g})"


def device_badges(
    devices: Sequence[str], theme: Theme, stand_ins: Iterable[str] = ()
) -> list[Mapping[str, str]]:
    """What a page needs to draw each device's badge: its name, colour, text colour and a remark."""
    colors = device_colors(devices, theme)
    playing = frozenset(stand_ins)
    return [
        {
            "device": device,
            "color": colors[device],
            "text": text_on(colors[device]),
            "remark": "host" if is_host(device) else "stand-in" if device in playing else "",
        }
        for device in devices
    ]


def _channels(color: str) -> tuple[float, float, float]:
    return int(color[1:3], 16) / 255, int(color[3:5], 16) / 255, int(color[5:7], 16) / 255
