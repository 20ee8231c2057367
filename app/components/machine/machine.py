"""The Machine page's live components: they listen to the stream by themselves, Python only mounts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import streamlit as st

from app.components.shared.assets import script, style
from app.components.shared.event import Event, event_of, ignore
from probes.nvml.missing import is_missing

Part = Literal["head", "processes"]

_component = st.components.v2.component(
    "hopscope_machine",
    html='<div class="hopscope"></div>',
    css=style("shared/cells") + style("table/table") + style("machine/machine"),
    js=script("machine/main"),
)
_text = st.components.v2.component(
    "hopscope_machine_text",
    html='<div class="hopscope"></div>',
    css=style("shared/cells") + style("machine/text"),
    js=script("machine/text"),
)


def shape_of(snapshot: Mapping[str, Any] | None) -> str:
    """Which GPUs a snapshot has, or why it has none, as the component tells it; '' before the first."""
    if snapshot is None or "nvml" not in snapshot:
        return ""
    nvml = snapshot["nvml"]
    cards = [
        f"?{gpu['index']}" if is_missing(gpu.get("uuid")) else str(gpu.get("uuid"))
        for gpu in snapshot.get("gpus", ())
    ]
    return " ".join(["ok" if nvml == "ok" else str(nvml["state"]), *cards])


def machine(
    part: Part, key: str, *, replay: str = "", shape: str = "", operator: bool = False
) -> Event | None:
    """Draws a part of the live page; gives what the reader did since the last run, None when nothing.

    The head is status, alerts, cards and host. `replay` names a recording instead of this machine. Events:

    - ``{"type": "shape"}``: other GPUs are there than in `shape`, so what is drawn around has changed;
    - ``{"type": "open", "href", "row"}``: the link to a run was clicked;
    - ``{"type": "live"}``: the replay is to end.
    """
    data = {"part": part, "replay": replay, "shape": shape, "operator": operator}
    result = _component(key=key, data=data, on_event_change=ignore)
    return event_of(result)


def machine_text(address: str, key: str) -> None:
    """Draws the text at `address` on this server, read anew with each sample, with a button to copy it."""
    _text(key=key, data={"address": address})
