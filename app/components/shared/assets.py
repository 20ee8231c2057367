"""Reads the scripts and style sheets that live beside the components."""

from __future__ import annotations

from pathlib import Path

from app.components.shared.bundle import bundle

FOLDER = Path(__file__).parents[1]


def script(name: str) -> str:
    """Text of the module that has a component's ``export default``, with all that it imports.

    The name is a path below app/components without its ending: ``diagram/main``.
    """
    return bundle(FOLDER / f"{name}.js", FOLDER)


def style(name: str) -> str:
    """Text of a style sheet, named like a script."""
    return (FOLDER / f"{name}.css").read_text("utf-8")
