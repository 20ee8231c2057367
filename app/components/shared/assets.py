"""Reads the scripts and style sheets that live beside the components."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from app.components.shared.palette import palette_script

FOLDER = Path(__file__).parents[1]


def script(names: Iterable[str]) -> str:
    """One module: the palette, what all share, then these scripts; the last has the ``export default``.

    Names are paths below app/components without their ending: ``diagram/main``.
    """
    texts = ((FOLDER / f"{name}.js").read_text("utf-8") for name in ("shared/theme", "shared/mount", *names))
    return "\n".join([palette_script(), *texts])


def style(name: str) -> str:
    """The text of a style sheet, named like a script."""
    return (FOLDER / f"{name}.css").read_text("utf-8")
