"""Notes folded away: how many there are, and the command that tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.views import units


def is_note(row: Mapping[str, Any]) -> bool:
    """Whether it may be folded away; what could not be seen is told first, also where it is no warning."""
    return row["severity"] == "info" and not row["evidence"].keys() >= {"what", "why"}


def notes_told(notes: int, advising: int) -> str:
    """What stands above folded notes: ``12 notes, 2 with advice``."""
    told = units.plural(notes, "note")
    return f"{told}, {units.count(advising)} with advice" if advising else told


def folded_told(rows: Sequence[Mapping[str, Any]], command: str, *, beside: bool) -> str:
    """``and 12 notes: python3 -m app report RUN --notes``; `beside`: others stand above."""
    told = notes_told(len(rows), sum(bool(row["fix"]) for row in rows))
    return f"{'and ' if beside else ''}{told}: {command}"
