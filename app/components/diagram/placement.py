"""The placement diagram's component: swimlanes in the browser, events back to Python."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.components.shared.assets import script, style
from app.components.shared.event import Event, event_of, ignore

_component = st.components.v2.component(
    "hopscope_placement",
    html='<div class="hopscope-diagram"></div>',
    css=style("diagram/diagram"),
    js=script("diagram/main"),
)


def placement_diagram(data: dict[str, Any], key: str) -> Event | None:
    """Draws what `app.views.placement.diagram_data` made; gives what the reader did since the last run.

    With the same `key` the drawing is changed in place and keeps its zoom. The event is one of

    - ``{"type": "group", "id", "device", "label", "scope"}``: a group was selected;
    - ``{"type": "crossing", "id", "src", "dst", "hops": [row, ..]}``: a crossing was selected;
    - ``{"type": "toggle", "id", "expand", "open"}``: add `expand` to the opened scopes, or take it out;
    - ``{"type": "clear"}``: nothing is selected any more.

    None when nothing was done.
    """
    result = _component(key=key, data=data, on_event_change=ignore)
    return event_of(result)
