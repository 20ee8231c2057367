"""Recordings of machines on the Machine page: choose one to replay, take one in, remove one."""

from __future__ import annotations

import datetime
from typing import Any

import streamlit as st

from app.components.shared.event import Event
from app.components.stream.replay import told_of
from app.components.table.table import Column, Look, table
from app.views import units
from app.views.text import escape_markdown
from runners.errors import HopscopeError
from runners.recordings import recordings

RECORD_COMMAND = "python3 -m app devices --record machine.jsonl.gz"
_COLUMNS = (
    Column("host", "Recorded on", "link"),
    Column("gpus", "GPUs", "text"),
    Column("made", "Made", "number"),
    Column("length", "Length", "number"),
    Column("size", "Size", "number"),
    Column("actions", "", "actions"),
)
_REPLAY = {"name": "replay", "label": "Replay", "doing": "opening"}
_MOST_READ = 8 << 20
"""Bytes of a file that is read to its end only to tell how long it is."""
_REMOVE = {
    "name": "remove",
    "label": "Remove",
    "confirm": "Remove the recording for good?",
    "yes": "Remove",
    "doing": "removing",
}


def recordings_section(operator: bool) -> None:
    """Draws the recordings of this server; anybody may replay them, operators add and remove them."""
    try:
        entries = recordings.listed()
    except HopscopeError as error:
        st.error(escape_markdown(error))
        return
    if message := st.session_state.pop("recordings-message", None):
        st.error(escape_markdown(message), icon=":material/block:")
    _tell_added(entries)
    if entries:
        rows = [recording_row(entry, operator) for entry in entries]
        _act(table(_COLUMNS, rows, "recordings", look=Look(height=320), label="Recordings"), operator)
    else:
        st.caption("There is none yet. On a machine with GPUs this makes one:")
        st.code(RECORD_COMMAND, language="bash")
    if operator:
        st.file_uploader(
            "Add a recording",
            type=["jsonl", "gz"],
            max_upload_size=recordings.MOST_UPLOADED >> 20,
            key="recording-upload",
            on_change=_take_in,
            help="It holds users and command lines of the machine it is of; all who look here see them.",
        )


def told_date(made: float) -> str:
    """When a recording was made: ``21 November 2026, 09:45``, by this machine's clock."""
    moment = datetime.datetime.fromtimestamp(made)
    return f"{moment.day} {moment:%B %Y, %H:%M}"


def recording_row(entry: recordings.Entry, operator: bool) -> dict[str, Any]:
    """A recording as a row of the table; only operators may remove it."""
    header = entry.header
    cells: dict[str, Any] = {
        "host": {"text": entry.id, "href": f"/?replay={entry.id}", "note": entry.problem or ""},
        "size": {"text": units.size(entry.bytes), "sort": entry.bytes},
    }
    actions = [] if entry.problem else [_REPLAY]
    cells["actions"] = {"actions": [*actions, *([_REMOVE] if operator else [])]}
    if header is not None:
        cells["length"] = _length(entry, cells["host"])
        cells["host"] |= {"text": header.hostname or entry.id, "remark": entry.id}
        cells["gpus"] = {"text": _counted(header.gpus) or "none"}
        cells["made"] = {"text": told_date(header.made), "sort": header.made}
    return {"id": entry.id, "cells": cells}


def _length(entry: recordings.Entry, host: dict[str, Any]) -> dict[str, Any]:
    """How long it plays; what is wrong with it goes under the name."""
    if entry.bytes > _MOST_READ:
        return {"text": "", "remark": "long", "title": "Its length shows once it is replayed", "sort": 1e9}
    try:
        facts = entry.path.stat()
        seconds, notes = told_of(entry.path, facts.st_mtime_ns, facts.st_size)
    except (HopscopeError, OSError) as error:
        host["note"] = str(error)
        return {"text": "", "sort": -1}
    host["note"] = "; ".join(notes)
    return {"text": units.duration(seconds), "sort": seconds}


def _tell_added(entries: list[recordings.Entry]) -> None:
    """Say what became of the last upload, and offer to look at it."""
    name = st.session_state.get("recordings-added")
    entry = next((entry for entry in entries if entry.id == name), None)
    if entry is None:
        return
    of = f", of {entry.header.hostname}" if entry.header and entry.header.hostname else ""
    st.success(escape_markdown(f"The recording is taken in as {entry.id}{of}."), icon=":material/check:")
    if st.button("Replay it now", icon=":material/play_circle:", key="replay-added"):
        _replay(entry.id)


def _replay(name: str) -> None:
    st.session_state.pop("recordings-added", None)
    st.query_params["replay"] = name
    st.rerun()


def _counted(names: tuple[str, ...]) -> str:
    """How many of which cards."""
    kinds = dict.fromkeys(names)
    return ", ".join(f"{names.count(name)} {units.TIMES} {name}" for name in kinds)


def _act(event: Event | None, operator: bool) -> None:
    if event is None:
        return
    if event["type"] == "open" or (event["type"] == "action" and event["action"] == "replay"):
        _replay(str(event["row"]))
    if event["type"] == "action" and operator:
        try:
            recordings.remove(str(event["row"]))
        except HopscopeError as error:
            st.session_state["recordings-message"] = str(error)
        st.rerun()


def _take_in() -> None:
    """Keep what was chosen for upload, once."""
    upload = st.session_state.get("recording-upload")
    if upload is None:
        return
    try:
        st.session_state["recordings-added"] = recordings.add(upload.name, upload).id
    except HopscopeError as error:
        st.session_state["recordings-message"] = str(error)
