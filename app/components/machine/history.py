"""The curves of the Machine page: Plotly in the browser, fed by the stream, zoom kept."""

from __future__ import annotations

import streamlit as st

from app.components.shared.assets import script, style
from app.components.shared.event import Event, event_of, ignore

# Plotly puts its own style sheet into the page's head, so it can't live in a shadow root.
_component = st.components.v2.component(
    "hopscope_history",
    html='<div class="hopscope-history" role="group" aria-label="History"></div>',
    css=style("figure/figure") + style("machine/history"),
    js=script("machine/history"),
    isolate_styles=False,
)


def history(key: str, *, replay: str = "", metric: str = "", span: int = 0) -> Event | None:
    """Draws the curves of the last `span` seconds; gives what was chosen: ``{"type", "metric", "span"}``.

    `metric` is one of the component's names, `span` 120, 600 or 3600; else it chooses. `replay` names a
    recording instead of this machine.
    """
    data = {"replay": replay, "metric": metric, "span": span}
    result = _component(key=key, data=data, on_event_change=ignore)
    return event_of(result)
