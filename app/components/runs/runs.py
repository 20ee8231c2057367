"""The list of all runs in the browser: it listens to the server by itself, Python only mounts it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.components.runs.listing import MOST_ROWS
from app.components.shared.assets import script, style
from app.components.shared.event import Event, event_of, ignore
from app.components.table.table import Column

ADDRESS = "/hopscope/runs"

_component = st.components.v2.component(
    "hopscope_runs",
    html='<div class="hopscope"></div>',
    css=style("shared/cells") + style("table/table") + style("runs/runs"),
    js=script("runs/runs"),
)


def runs_list(
    columns: Sequence[Column],
    broken: Sequence[Column],
    key: str,
    *,
    wish: Mapping[str, Any],
    empty: bool,
    height: int,
) -> Event | None:
    """Draws the runs, and below them the folders that cannot be read; gives what the reader did.

    `wish` is what the address asks for: find, sort, way, first. `empty`: the registry was empty when the page
    was drawn. Events as of `app.components.table.table.table`, and:

    - ``{"type": "wish", "wish": {..}}``: another part of the list is looked at;
    - ``{"type": "shape"}``: it is no longer so that the registry is empty, or is not.
    """
    data = {
        "address": ADDRESS,
        "columns": [dataclasses.asdict(column) for column in columns],
        "broken": [dataclasses.asdict(column) for column in broken],
        "wish": dict(wish),
        "empty": empty,
        "height": height,
        "page": MOST_ROWS,
    }
    result = _component(key=key, data=data, on_event_change=ignore)
    return event_of(result)
