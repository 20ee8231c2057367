"""What one must know of a whole run to read its figures rightly."""

from __future__ import annotations

import dataclasses

from app.facts.tables import Tables
from app.views import units

_SAMPLED = (
    "were not recorded in full: the counts of their eager ops, reads and transfers follow from the steps that"
    " were (sampled). --exact records each step."
)


@dataclasses.dataclass(frozen=True)
class Note:
    """One thing to know."""

    label: str
    """In one word: ``serialised``."""
    text: str


def run_notes(tables: Tables) -> list[Note]:
    """The notes of all processes, each once."""
    found: dict[Note, None] = {}
    for process in tables.processes:
        text = process.header.get("serialised")
        if isinstance(text, str) and text:
            found[Note("serialised", text)] = None
    skipped = tables.steps_between_windows
    if skipped:
        found[Note("sampled", f"{units.plural(skipped, 'step')} {_SAMPLED}")] = None
    return list(found)
