"""The Machine page from head to foot: live parts that keep themselves up to date, then sections at rest."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app import access
from app.live.history import history
from app.live.machine import machine, machine_text, shape_of
from app.screen import places
from runners import monitor

TEXT_ADDRESS = "/hopscope/devices.txt"


def machine_panel() -> None:
    """Draws the machine that this server runs on, or the recording that the address names."""
    replay = st.query_params.get("replay", "")
    operator = access.role() == "operator"
    snapshot = monitor.shared().snapshot
    _act(
        machine("head", f"machine-head-{replay}", replay=replay, shape=shape_of(snapshot), operator=operator)
    )
    st.subheader("History", anchor=False)
    _keep_view(
        history(
            f"machine-history-{replay}",
            replay=replay,
            metric=st.query_params.get("metric", ""),
            span=_span(),
        )
    )
    st.subheader("Processes", anchor=False)
    _act(machine("processes", f"machine-processes-{replay}", replay=replay))
    if snapshot is not None and not replay:
        _sections(snapshot, operator)


def _span() -> int:
    text = st.query_params.get("span", "")
    return int(text) if text.isdecimal() else 0


def _act(event: dict[str, Any] | None) -> None:
    """Do what was asked for in a live part; other GPUs than before need no more than this run of the page."""
    if event is None:
        return
    if event["type"] == "open":
        run_id = str(event["row"]).partition("/")[0]
        st.switch_page(places.RUN, query_params={"run": run_id})
    if event["type"] == "live":
        del st.query_params["replay"]
        st.rerun()


def _keep_view(event: dict[str, Any] | None) -> None:
    """Keep what is drawn in the address."""
    if event is not None:
        st.query_params["metric"] = event["metric"]
        st.query_params["span"] = str(event["span"])


def _sections(snapshot: dict[str, Any], operator: bool) -> None:
    tabs = st.tabs(["nvidia-smi as text"], key="tab", bind="query-params")
    with tabs[0]:
        machine_text(TEXT_ADDRESS, "machine-text")
