"""The Machine page from head to foot: live parts that keep themselves up to date, then sections at rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from app import access
from app.components.machine.history import history
from app.components.machine.machine import machine, machine_text, shape_of
from app.components.shared.event import Event
from app.components.stream.replay import recording_of
from app.views.text import escape_markdown
from app.web.machine.machine_costs import costs_section
from app.web.machine.machine_fitness import fitness_section
from app.web.machine.machine_matrices import matrices_section
from app.web.machine.machine_order import order_section
from app.web.machine.machine_recordings import recordings_section, told_date
from app.web.shared import places
from runners.errors import HopscopeError
from runners.machine import monitor

TEXT_ADDRESS = "/hopscope/devices.txt"


def machine_panel() -> None:
    """Draws the machine that this server runs on, or the recording that the address names."""
    replay = st.query_params.get("replay", "")
    operator = access.role() == "operator"
    try:
        recording = recording_of(replay) if replay else None
    except HopscopeError as error:
        st.title("Machine")
        st.error(escape_markdown(error), icon=":material/search_off:")
        if st.button("Show this machine", icon=":material/memory:"):
            _end_replay()
        return
    snapshot = recording.message(0) if recording else monitor.shared().snapshot
    _act(machine("head", "machine-head", replay=replay, shape=shape_of(snapshot), operator=operator))
    for note in recording.notes if recording else ():
        st.caption(escape_markdown(note))
    if not replay and snapshot is not None and not snapshot["gpus"]:
        _offer_recordings(operator)
    _keep_view(
        history(
            "machine-history",
            replay=replay,
            metric=st.query_params.get("metric", ""),
            span=_span(),
        )
    )
    _act(machine("processes", "machine-processes", replay=replay))
    if snapshot is not None:
        made = told_date(recording.header.made) if recording else ""
        _sections(snapshot, operator, made)


def _offer_recordings(operator: bool) -> None:
    with st.expander("Look at another machine: replay a recording", icon=":material/play_circle:"):
        recordings_section(operator)


def _sections(snapshot: dict[str, Any], operator: bool, recorded: str) -> None:
    """The tabs at the foot; `recorded` is when the snapshot is of, '' where it is of now."""
    sections: dict[str, Callable[[], None]] = {}
    gpus = bool(snapshot["gpus"])
    if gpus:
        sections["Which card is which"] = lambda: order_section(snapshot, recorded=bool(recorded))
        sections["Topology and peer access"] = lambda: matrices_section(snapshot)
    if not recorded:
        if gpus:
            sections["What a hop costs"] = lambda: costs_section(snapshot, operator)
        sections["Would it work here?"] = lambda: fitness_section(snapshot)
        sections["nvidia-smi as text" if gpus else "As text"] = lambda: machine_text(
            TEXT_ADDRESS, "machine-text"
        )
        if gpus:
            sections["Recordings"] = lambda: recordings_section(operator)
    if not sections:
        return
    if recorded:
        st.caption(f"Of the recording, as the machine was on {escape_markdown(recorded)}.")
    tabs = st.tabs(list(sections), key="tab", bind="query-params")
    for tab, draw in zip(tabs, sections.values(), strict=True):
        if tab.open:
            with tab:
                draw()


def _span() -> int:
    text = st.query_params.get("span", "")
    return int(text) if text.isdecimal() else 0


def _act(event: Event | None) -> None:
    """Do what was asked for in a live part; of other GPUs than before this run of the page knows already."""
    if event is None:
        return
    if event["type"] == "open":
        run_id = str(event["row"]).partition("/")[0]
        st.switch_page(places.RUN, query_params={"run": run_id})
    if event["type"] == "live":
        _end_replay()


def _end_replay() -> None:
    st.query_params.pop("replay", None)
    st.rerun()


def _keep_view(event: Event | None) -> None:
    """Keep what is drawn in the address."""
    if event is not None:
        st.query_params["metric"] = event["metric"]
        st.query_params["span"] = str(event["span"])
