"""A file's lines in the browser with what each made the devices do beside it, changed in place."""

from __future__ import annotations

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


def source_lines(
    lines: Sequence[str],
    facts: Sequence[Mapping[str, Any]],
    key: str,
    *,
    words: Sequence[Sequence[tuple[int, int, str]]] = (),
    selected: int = 0,
    lit: Collection[int] = (),
    first: int = 0,
    height: int = 560,
    label: str = "",
    name: str = "",
) -> Event | None:
    """Draws a file; gives ``{"type": "line", "line": number}`` when a line was picked, 0 when it was let go.

    `facts` say what is beside a line, ``{"line", "ops", "more", "arriving", "leaving", "waits"}``: ops are
    ``{"device", "hue", "text", "title"}``, more ``{"text", "title"}`` or None, for devices left out, the
    others ``{"text", "remark", "title", "tone"}``, perhaps with a line ``"below"``, or None.
    Without `lines`, the lines that have facts are drawn without their text. `words` are the parts of each
    line that are coloured, (start, end, kind); `lit` the lines that what is picked elsewhere has to do
    with; `name` is the file's, on whose change the reader is led to the line `first`, where none is picked
    or lit. None when nothing was done.
    """
    data = {
        "lines": list(lines),
        "words": [[list(word) for word in line] for line in words],
        "facts": [dict(fact) for fact in facts],
        "selected": selected,
        "lit": sorted(lit),
        "first": first,
        "height": height,
        "label": label,
        "name": name,
        "testid": f"source-{key}",
    }
    result = _component(key=key, data=data, on_event_change=ignore)
    return event_of(result)
