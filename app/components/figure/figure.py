"""A Plotly figure changed in place: `st.plotly_chart` mounts anew on every change and loses the zoom."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import streamlit as st

from app.components.shared.assets import script, style
from app.components.shared.event import Event, event_of, ignore

CLICK = "click"
SELECT = "select"
RANGE = "range"

# Plotly puts its own style sheet into the page's head, so it can't live in a shadow root.
_component = st.components.v2.component(
    "hopscope_figure",
    html='<div class="hopscope-figure" role="group"></div>',
    css=style("figure/figure"),
    js=script("figure/figure"),
    isolate_styles=False,
)


def live_figure(
    fig: dict[str, Any],
    key: str,
    height: int | None = None,
    *,
    events: Collection[str] = (CLICK,),
    label: str = "",
) -> Event | None:
    """Draws a figure, ``{"data": [..], "layout": {..}}``; gives what the reader did since the last run.

    `height` in pixels is by default the layout's own. `label` says to screen readers what the figure shows.
    `events` chooses what starts a run of the page:

    - click: ``{"type": "click", "x", "y", "customdata", "curve", "name"}`` of the point or cell;
    - select: ``{"type": "select", "x0", "x1"}`` of a box drawn with the selection tool;
    - range: ``{"type": "range", "x0", "x1"}`` after zooming or panning x, nulls when all is shown again.

    None when nothing was done.
    """
    data = {
        "figure": fig,
        "height": height or int(fig.get("layout", {}).get("height") or 360),
        "events": sorted(events),
        "label": label,
        "testid": f"figure-{key}",
    }
    result = _component(key=key, data=data, on_event_change=ignore)
    return event_of(result)
