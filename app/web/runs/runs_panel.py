"""The page of all runs: the list keeps itself up to date, the page is drawn anew only after a click."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import access
from app.components.runs.runs import runs_list
from app.components.shared.event import Event
from app.views.text import escape_markdown
from app.web.shared import places, run_rows
from runners.errors import HopscopeError
from runners.runs import registry

_HEIGHT = 720
_LONGEST = 200


@st.fragment
def runs_panel() -> None:
    """Draws all runs."""
    try:
        empty = not registry.runs()
    except HopscopeError as error:
        st.error(escape_markdown(error))
        return
    operator = access.role() == "operator"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title("Runs", width="stretch")
        if operator:
            st.page_link(places.LAUNCH, label="Launch a run", icon=":material/rocket_launch:")
    with st.container():
        if message := st.session_state.pop("runs-message", None):
            st.error(escape_markdown(message), icon=":material/block:")
    if empty:
        _nothing_yet(operator)
    event = runs_list(
        run_rows.COLUMNS, run_rows.BROKEN_COLUMNS, "runs", wish=_asked_for(), empty=empty, height=_HEIGHT
    )
    _act(event)


def _asked_for() -> dict[str, Any]:
    """The part of the list that the address names."""
    query = st.query_params
    first = query.get("first", "")
    sort, falling = query.get("sort", "").removeprefix("-"), query.get("sort", "").startswith("-")
    known = sort in {column.name for column in run_rows.COLUMNS}
    return {
        "find": query.get("find", "")[:_LONGEST],
        "sort": sort if known else "",
        "way": -1 if falling else 1,
        "first": int(first) if first.isascii() and first.isdecimal() and len(first) < 9 else 0,
    }


def _keep_in_address(wish: Mapping[str, Any]) -> None:
    way = "-" if wish.get("way") == -1 else ""
    values = {
        "find": str(wish.get("find") or "")[:_LONGEST],
        "sort": f"{way}{wish['sort']}" if wish.get("sort") else "",
        "first": str(wish.get("first") or ""),
    }
    for name, value in values.items():
        if value:
            st.query_params[name] = value
        else:
            st.query_params.pop(name, None)


def _nothing_yet(operator: bool) -> None:
    with st.container(border=True, key="no-runs"):
        st.markdown(
            "**No run yet.** Every run that is launched here, or on the command line, appears in this list."
        )
        if operator:
            st.page_link(places.LAUNCH, label="Launch the first one", icon=":material/rocket_launch:")
        st.caption(f"Runs are kept in {escape_markdown(registry.runs_folder())}")


def _act(event: Event | None) -> None:
    """Do what was asked for in the list; what goes wrong is said above it."""
    if event is None:
        return
    if event["type"] == "shape":
        st.rerun(scope="fragment")
    if event["type"] == "wish" and isinstance(event.get("wish"), dict):
        _keep_in_address(event["wish"])
        return
    run = next((run for run in registry.runs() if run.id == event.get("row")), None)
    if run is None:
        return
    before = run_rows.run_before(run)
    if event["type"] == "open" and before and event.get("href") == before.link():
        st.switch_page(places.RUN, query_params=before.query())
    if event["type"] == "open":
        st.switch_page(places.RUN, query_params={"run": run.id})
    if event["type"] != "action" or access.role() != "operator":
        return
    try:
        if event["action"] == "stop":
            registry.request_stop(run)
        elif event["action"] == "delete":
            registry.remove(run)
    except HopscopeError as error:
        st.session_state["runs-message"] = str(error)
        st.rerun(scope="fragment")
