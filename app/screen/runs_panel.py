"""The table of all runs, which keeps itself up to date."""

from __future__ import annotations

import streamlit as st

from app import access
from app.live.table import Column, table
from app.screen import places, run_rows
from app.store.progress import last_progress
from app.views import units
from app.views.text import escape_markdown
from runners import registry
from runners.errors import HopscopeError
from runners.run import Run

_POLL_S = 2.0
_HEIGHT = 720
_EMPTY = "No run yet."


@st.fragment(run_every=_POLL_S)
def runs_panel() -> None:
    """Draws all runs; looks again every two seconds."""
    try:
        found = registry.runs()
    except HopscopeError as error:
        st.error(escape_markdown(error))
        return
    operator = access.role() == "operator"
    readable = [run for run in found if not _is_broken(run)]
    broken = [run for run in found if _is_broken(run)]
    going_on = sum(not run.ended for run in readable)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title("Runs", width="content")
        st.caption(_number(len(readable), going_on), width="stretch")
        if operator:
            st.page_link(places.LAUNCH, label="Launch a run", icon=":material/rocket_launch:")
    with st.container():
        if message := st.session_state.pop("runs-message", None):
            st.error(escape_markdown(message), icon=":material/block:")
    if readable:
        known = {run.id for run in readable}
        rows = [run_rows.run_row(run, last_progress(run.path), operator, known=known) for run in readable]
        _act(_draw(run_rows.COLUMNS, rows, "runs"), readable)
    else:
        _nothing_yet(operator)
    if broken:
        st.subheader("Folders that cannot be read", anchor=False)
        _act(
            _draw(run_rows.BROKEN_COLUMNS, [run_rows.broken_row(run, operator) for run in broken], "broken"),
            broken,
        )


def _is_broken(run: Run) -> bool:
    return run.problem is not None and run.state == "lost"


def _number(runs: int, going_on: int) -> str:
    if not runs:
        return ""
    return f"{units.plural(runs, 'run')}, {going_on} going on" if going_on else units.plural(runs, "run")


def _nothing_yet(operator: bool) -> None:
    with st.container(border=True, key="no-runs"):
        st.markdown(
            "**No run yet.** Every run that is launched here, or on the command line, appears in this list."
        )
        if operator:
            st.page_link(places.LAUNCH, label="Launch the first one", icon=":material/rocket_launch:")
        st.caption(f"Runs are kept in {escape_markdown(registry.runs_folder())}")


def _draw(columns: tuple[Column, ...], rows: list[dict[str, object]], key: str) -> dict[str, object] | None:
    return table(columns, rows, key, height=_HEIGHT, empty=_EMPTY, label="Runs, newest first")


def _act(event: dict[str, object] | None, runs: list[Run]) -> None:
    """Do what was asked for in the table; what goes wrong is said above it on the next run."""
    run = next((run for run in runs if event and run.id == event.get("row")), None)
    if event is None or run is None:
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
