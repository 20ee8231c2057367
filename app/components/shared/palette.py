"""The project's colours by name, for light and dark pages.

One hue a device, told apart with protanopia, deuteranopia and tritanopia too
(tests/unit/views/test_colors.py measures it); a hue keeps its place in both themes and only changes its
lightness. The components' scripts carry this table and choose by the page's real background, because the
server learns of a page's theme late or not at all.
"""

from __future__ import annotations

import json

HUES = 8

PALETTES: dict[str, dict[str, str]] = {
    "light": {
        "hue0": "#164bb3",
        "hue1": "#e3a322",
        "hue2": "#9b5cd9",
        "hue3": "#1f8767",
        "hue4": "#f277cf",
        "hue5": "#464a04",
        "hue6": "#10b0f2",
        "hue7": "#7a2a4c",
        "host": "#868e99",
        "alert": "#e0401c",
        "quiet": "#9aa1ab",
        "text": "#31333f",
        "muted": "#6b7079",
        "background": "#ffffff",
        "panel": "#f0f2f6",
        "grid": "#e3e5ea",
        "bright": "#ffffff",
        "ramp0": "#e8edf3",
        "ramp1": "#cfdae6",
        "ramp2": "#aabed2",
        "ramp3": "#587391",
        "ramp4": "#38506b",
    },
    "dark": {
        "hue0": "#4a83fa",
        "hue1": "#ffc247",
        "hue2": "#c2a0ff",
        "hue3": "#1fcf9a",
        "hue4": "#f283cb",
        "hue5": "#767711",
        "hue6": "#8fe0ff",
        "hue7": "#a8437a",
        "host": "#8b949e",
        "alert": "#ff7557",
        "quiet": "#7d8590",
        "text": "#fafafa",
        "muted": "#a3a8b4",
        "background": "#0e1117",
        "panel": "#1a1d26",
        "grid": "#2b2f3a",
        "bright": "#fafafa",
        "ramp0": "#1f2731",
        "ramp1": "#2b3a4c",
        "ramp2": "#384f69",
        "ramp3": "#466689",
        "ramp4": "#547da8",
    },
}
"""``hue0`` .. ``hue7`` are the devices', ``host`` the host's; ``alert`` is for warnings and errors, ``quiet``
for transfers that are as they should be. ``ramp0`` .. ``ramp4`` go from little to much; ``text`` reads well
on the lower three, ``bright`` on the upper two."""


def named(name: str) -> str:
    """A colour by name, as the components resolve it: ``var(--hs-hue0)``."""
    return f"var(--hs-{name})"


def palette_script() -> str:
    """The table as a line of JavaScript."""
    return f"const PALETTES = {json.dumps(PALETTES)};"
