"""The project's colours by name, for light and dark pages.

One hue a device, told apart with protanopia, deuteranopia and tritanopia too
(tests/unit/views/test_colors.py measures it); a hue keeps its place in both themes and only changes its
lightness. The table is palette.json. The components' scripts carry it too and choose by the page's real
background, because the server learns of a page's theme late or not at all.
"""

from __future__ import annotations

import json
from pathlib import Path

HUES = 8

PALETTES: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("palette.json").read_text("utf-8"))
"""``hue0`` .. ``hue7`` are the devices', ``host`` the host's; ``alert`` is for warnings and errors, ``quiet``
for transfers that are as they should be. ``ramp0`` .. ``ramp4`` go from little to much; ``text`` reads well
on the lower three, ``bright`` on the upper two."""


def named(name: str) -> str:
    """A colour by name, as the components resolve it: ``var(--hs-hue0)``."""
    return f"var(--hs-{name})"
