"""A file's lines in the browser with what each made the devices do beside it, changed in place."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from app.components.shared.assets import script, style
from app.components.shared.event import Event, event_of, ignore

_component = st.components.v2.component(
    "hopscope_source",
    html='<div class="hopscope"></div>',
    css=style("shared/cells") + style("shared/code") + style("source/source"),
    js=script("source/source"),
)


@dataclasses.dataclass(frozen=True)
class SourceText:
    """A file to draw."""

    name: str
    """On whose change the reader is led to the first of its marks."""
    lines: Sequence[str] = ()
    """Without them, the lines that have facts are drawn without their text."""
    words: Sequence[Sequence[tuple[int, int, str]]] = ()
    """The parts of each line that are coloured: start, end, kind."""


@dataclasses.dataclass(frozen=True)
class Marks:
    """The lines that stand out."""

    selected: int = 0
    lit: Collection[int] = ()
    """Those that what is picked elsewhere has to do with."""
    first: int = 0
    """Where the reader is led to, where none is picked or lit."""


NO_MARKS = Marks()


def source_lines(
    text: SourceText,
    facts: Sequence[Mapping[str, Any]],
    key: str,
    *,
    marks: Marks = NO_MARKS,
    height: int = 560,
    label: str = "",
) -> Event | None:
    """Draws a file; gives ``{"type": "line", "line": number}`` when a line was picked, 0 when it was let go.

    `facts` say what is beside a line, ``{"line", "ops", "more", "arriving", "leaving", "waits"}``: ops are
    ``{"device", "hue", "text", "title"}``, more ``{"text", "title"}`` or None, for devices left out, the
    others ``{"text", "remark", "title", "tone"}``, perhaps with a line ``"below"``, or None.
    None when nothing was done.
    """
    data = {
        "lines": list(text.lines),
        "words": [[list(word) for word in line] for line in text.words],
        "facts": [dict(fact) for fact in facts],
        "selected": marks.selected,
        "lit": sorted(marks.lit),
        "first": marks.first,
        "height": height,
        "label": label,
        "name": text.name,
        "testid": f"source-{key}",
    }
    result = _component(key=key, data=data, on_event_change=ignore)
    return event_of(result)
