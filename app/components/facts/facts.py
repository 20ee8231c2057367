"""A line of labelled values in the browser, changed in place: progress, loss, devices, buttons."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.components.shared.assets import script, style
from app.components.shared.event import Event, event_of, ignore
from app.components.table.table import Kind

_component = st.components.v2.component(
    "hopscope_facts",
    html='<div class="hopscope"></div>',
    css=style("shared/cells") + style("facts/facts"),
    js=script("facts/facts"),
)


@dataclasses.dataclass(frozen=True)
class Fact:
    """One labelled value; `cell` is what a table's cell of that kind would be."""

    name: str
    label: str
    kind: Kind
    cell: Mapping[str, Any]
    wide: bool = False
    """It takes what room there is."""


def facts(values: Sequence[Fact], key: str, *, page: str = "", top: bool = True) -> Event | None:
    """Draws the values; gives ``{"type": "action", "action"}`` when a button was pressed, else None.

    `page` is what the values are of, where they stand at a page's head: when another is shown, it is from its
    top on, unless `top` says that something further down is meant.
    """
    data = {
        "facts": [dataclasses.asdict(fact) for fact in values],
        "testid": f"facts-{key}",
        "page": page,
        "top": top,
    }
    result = _component(key=key, data=data, on_event_change=ignore)
    return event_of(result)
