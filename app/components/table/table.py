"""A table in the browser, changed in place: device hues, badges, bars, buttons."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import streamlit as st

from app.components.shared.assets import script, style
from app.components.shared.event import Event, event_of, ignore

Kind = Literal["text", "label", "code", "site", "number", "devices", "badge", "progress", "link", "actions"]

_component = st.components.v2.component(
    "hopscope_table",
    html='<div class="hopscope"></div>',
    css=style("shared/cells") + style("table/table"),
    js=script("table/table"),
)


@dataclasses.dataclass(frozen=True)
class Column:
    """A column; its cells are mappings, by kind:

    - text, code, site, number: ``{"text", "sort", "remark", "title"}``; ``sort`` where not by text;
      a number's ``shade``, 0..1, colours the cell faintly;
    - label: as text, on one line, cut short where it does not fit;
    - devices: ``{"devices": [badge, ..], "arrow": bool}``, badges ``{"device", "hue", "remark"}``;
    - badge: ``{"text", "tone": good|busy|alert|odd|quiet}``;
    - progress: ``{"text", "fraction": 0..1 or None, "tone"}``;
    - link: ``{"text", "href", "kind", "remark", "of", "note", "calm"}``; a note is red unless it is calm;
      ``kind`` stands beside the text, ``of`` is a line ``{"lead", "text", "href"}`` with a link of its own;
    - actions: ``{"actions": [{"name", "label", "confirm", "yes", "doing"}]}``, asked twice with ``confirm``.
    """

    name: str
    title: str
    kind: Kind = "text"
    help: str = ""
    width: str = ""
    """CSS width, '' for what the content needs."""


@dataclasses.dataclass(frozen=True)
class Look:
    """How a table is drawn."""

    height: int = 420
    """The most that it takes, in pixels."""
    empty: str = "Nothing yet."
    """What stands there without rows."""
    searchable: int = 12
    """From how many rows on there is a search field."""


USUAL_LOOK = Look()


def table(
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    key: str,
    *,
    selected: Collection[str] = (),
    pickable: bool = False,
    label: str = "",
    look: Look = USUAL_LOOK,
) -> Event | None:
    """Draws rows, ``{"id", "cells": {column: cell}}``; gives what the reader did since the last run.

    Events:

    - ``{"type": "row", "row": id or None}``: a row was picked, or picked again and so let go;
    - ``{"type": "open", "href", "row"}``: a link was clicked;
    - ``{"type": "action", "action", "row"}``: a button was pressed (and confirmed).

    None when nothing was done.
    """
    data = {
        "columns": [dataclasses.asdict(column) for column in columns],
        "rows": [dict(row) for row in rows],
        "selected": list(selected),
        "pickable": pickable,
        "height": look.height,
        "empty": look.empty,
        "label": label,
        "searchable": look.searchable,
        "testid": f"table-{key}",
    }
    result = _component(key=key, data=data, on_event_change=ignore)
    return event_of(result)
