"""The views of a run, each in its own tab: all draw the same snapshot and mark the same selection."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import streamlit as st

from app.components.diagram.placement import placement_diagram
from app.components.figure.figure import live_figure
from app.components.table.table import Look, table
from app.diagram.grouping import graph_choices
from app.store.log import read_tail
from app.views import units
from app.views.matrix import matrix_figure
from app.views.memory import memory_figure
from app.views.placement import diagram_data
from app.views.progress import progress_figure
from app.views.text import escape_markdown
from app.web.run import run_header
from app.web.run.run_page import Page
from app.web.run.run_source import source_view
from app.web.run.run_timeline import timeline_view
from app.web.shared import rows

_FEW_DEVICES = 4
"""With more, the matrix takes the larger part of the page's width."""
_LOG_LINES = 400
_LOG_PX = 560
_LOG_LINES_UNSCROLLED = 20


def placement_view(page: Page) -> None:
    """Diagram, matrix and hop table."""
    # What comes and goes has a container of its own: the views after it would be mounted anew otherwise.
    with st.container():
        _graphs(page)
    _diagram(page)
    with st.container():
        _members(page)
    few = len(page.snapshot.devices) <= _FEW_DEVICES
    left, right = st.columns([5, 7] if few else [8, 5], gap="large")
    with left:
        st.markdown("**Between devices**")
        _matrix(page)
    with right:
        st.markdown("**On each device** :gray[whole run, all graphs]")
        made = page.row_maker.devices(page.snapshot.ops_by_device, page.snapshot.memory)
        label = "Ops and peak memory of each device in the whole run"
        table(rows.DEVICE_COLUMNS[:3], made, "ops", label=label, look=Look(empty=_no_devices(page)))
    _hops(page)
    _collectives(page)


def _no_devices(page: Page) -> str:
    return page.stage.empty or "No device told anything of itself."


def _members(page: Page) -> None:
    group = page.focus.group
    if group is None or not group.members:
        return
    st.markdown(f"**Ops in {escape_markdown(page.focus.label)}**")
    made = page.row_maker.members(group)
    table(rows.MEMBER_COLUMNS, made, "members", look=Look(height=260), label="Ops of the group")
    if group.ops > len(made):
        left_out = units.plural(group.ops - len(made), "more op")
        st.caption(f"{left_out} in it; open it in the diagram to see them apart.")


def _collectives(page: Page) -> None:
    if page.snapshot.collectives:
        st.markdown("**Collectives**")
        made = page.row_maker.collectives(page.snapshot.collectives)
        table(rows.COLLECTIVE_COLUMNS, made, "collectives", label="Collectives")


def _graphs(page: Page) -> None:
    choices = {choice.id: choice for choice in page.diagram.graphs or graph_choices(page.snapshot.tables)}
    if len(choices) < 2:
        return
    drawn = st.multiselect(
        "Graphs drawn",
        list(choices),
        default=[name for name in page.diagram.drawn if name in choices],
        format_func=lambda name: choices[name].name if name in choices else name,
        key=f"graphs-{'-'.join(page.diagram.drawn)}",
        placeholder="What executed most ops",
    )
    if tuple(drawn) != page.diagram.drawn:
        page.go(dataclasses.replace(page.address.with_filter(), graphs=tuple(drawn), opened=()))


def _diagram(page: Page) -> None:
    made = diagram_data(
        page.diagram,
        page.focus.selection,
        devices=page.snapshot.devices,
        hops=[hop.row() for hop in page.snapshot.hops],
        opened=page.address.opened,
        empty=_nothing_placed(page),
    )
    event = placement_diagram(made, key="diagram")
    if event is None:
        return
    address = page.address
    if event["type"] == "group":
        page.go(address.with_filter(group=event["id"]))
    elif event["type"] == "crossing":
        page.go(address.with_filter(crossing=event["id"]))
    elif event["type"] == "toggle" and event.get("expand"):
        page.go(address.with_opened(event["expand"], bool(event["open"])))
    elif event["type"] == "clear":
        page.go(address.with_filter())


def _nothing_placed(page: Page) -> str:
    if page.ended:
        return page.stage.empty or "No op was recorded in this run."
    return "No op has been placed yet. The diagram fills as soon as the program runs its first op."


def _matrix(page: Page) -> None:
    figure = matrix_figure(
        page.snapshot.matrix, page.address.pair, devices=page.snapshot.devices, alone=page.stage.alone
    )
    event = live_figure(
        figure, "matrix", label="Bytes and transfers between devices: rows send, columns receive"
    )
    pair = event.get("customdata") if event else None
    if isinstance(pair, list) and len(pair) == 2:
        chosen = str(pair[0]), str(pair[1])
        page.go(page.address.with_filter(pair=None if chosen == page.address.pair else chosen))


def _hops(page: Page) -> None:
    hops = page.snapshot.hops
    shown = page.row_maker.hops(hops, page.focus.rows)
    part = f"{len(shown)} of {len(hops)}" if len(shown) < len(hops) else str(len(hops))
    st.markdown(f"**Hops** :gray[{part}]")
    event = table(
        rows.hop_columns(hops),
        shown,
        "hops",
        selected=[] if page.address.hop is None else [str(page.address.hop)],
        pickable=True,
        look=Look(empty=page.stage.uncrossed if not hops else "No hop belongs to what is picked."),
        label="Transfers between devices",
    )
    if event and event["type"] == "row":
        page.go(dataclasses.replace(page.address, hop=event.number("row")))


def memory_view(page: Page) -> None:
    """Memory over time, and the peaks."""
    series = page.open.store.memory_series()
    if page.focus.devices:
        series = [one for one in series if one.device in page.focus.devices] or series
    figure = memory_figure(series, devices=page.snapshot.devices, height=340)
    live_figure(figure, "memory", events=(), label="Memory of each device over time")
    made = page.row_maker.devices(page.snapshot.ops_by_device, page.snapshot.memory)
    label = "Ops and peak memory of each device in the whole run"
    table(rows.DEVICE_COLUMNS, made, "devices", label=label, look=Look(empty=_no_devices(page)))


def syncs_view(page: Page) -> None:
    """Where Python waited for a device."""
    st.caption("Where Python waited for a device's value, or took it.")
    focus, syncs = page.focus, page.snapshot.syncs
    if focus.site:
        found = [sync for sync in syncs if sync.site == focus.site]
    else:
        found = [sync for sync in syncs if not focus.devices or focus.devices.intersection(sync.devices)]
    made = page.row_maker.syncs(found)
    empty = "No wait belongs to what is picked." if syncs else "Python waited for no device."
    table(rows.sync_columns(found), made, "syncs", look=Look(empty=empty), label="Waits for devices")


def training_view(page: Page) -> None:
    """Loss and speed as the program printed them."""
    figure = progress_figure(page.open.progress(), height=420)
    live_figure(figure, "progress", events=(), label="Loss and steps a second")


def command_view(page: Page) -> None:
    """Exactly what was run, and with what."""
    run_header.command(page.run, page.snapshot.tables)


def log_view(page: Page) -> None:
    """The end of what the program printed."""
    log = read_tail(page.open.path, most_lines=_LOG_LINES)
    if not log.lines:
        st.caption("It has printed nothing." if page.ended else "It has printed nothing yet.")
        return
    left_out = f", after {units.size(log.skipped)} that are not shown" if log.skipped else ""
    st.caption(f"The last {units.plural(len(log.lines), 'line')} of {units.size(log.size)}{left_out}.")
    tall = len(log.lines) > _LOG_LINES_UNSCROLLED
    with st.container(height=_LOG_PX if tall else "content", autoscroll=tall, key="log"):
        st.code(log.text, language=None, wrap_lines=True)


SOURCE = "Source"
VIEWS: dict[str, Callable[[Page], Any]] = {
    "Placement": placement_view,
    SOURCE: source_view,
    "Timeline": timeline_view,
    "Memory": memory_view,
    "Syncs": syncs_view,
    "Training": training_view,
    "Log": log_view,
    "Command": command_view,
}
