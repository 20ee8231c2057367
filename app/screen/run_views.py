"""The views of a run, each in its own tab: all draw the same snapshot and mark the same selection."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import streamlit as st

from app.analysis.grouping import graph_choices
from app.live.figure import live_figure
from app.live.placement import placement_diagram
from app.live.table import table
from app.screen import rows, run_header
from app.screen.address import RunAddress
from app.screen.focus import Focus
from app.screen.open_runs import OpenRun, Snapshot
from app.screen.stage import Stage, stage_of
from app.store.log import read_tail
from app.views import units
from app.views.matrix import matrix_figure
from app.views.memory import memory_figure
from app.views.placement import diagram_data
from app.views.placement_data import Diagram
from app.views.progress import progress_figure
from app.views.text import escape_markdown
from app.views.timeline import overview_figure, window_figure, within
from app.views.timeline_data import COUNTED_S, Binned, Overview
from runners.run import Run

_FEW_DEVICES = 4
"""With more, the matrix takes the larger part of the page's width."""
_BINS = 240
_WINDOW_BINS = 4
_LOG_LINES = 400
_LOG_PX = 560
_LOG_LINES_UNSCROLLED = 20


@dataclasses.dataclass(frozen=True)
class Page:
    """What the views of one run of the page's script share."""

    run: Run
    open: OpenRun
    snapshot: Snapshot
    address: RunAddress
    focus: Focus
    diagram: Diagram
    ended: bool
    go: Callable[[RunAddress], None]
    """Shows another address of this run."""

    @property
    def stage(self) -> Stage:
        """How far the run is."""
        return stage_of(self.run, self.snapshot.tables)

    @property
    def row_maker(self) -> rows.RunRows:
        """Makes table rows in the run's hues."""
        tables = self.snapshot.tables
        return rows.RunRows(
            tables.devices, tables.stand_ins, {graph.id: graph.name for graph in tables.graphs}
        )


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
        made = page.row_maker.devices(page.snapshot.ops, page.snapshot.memory)
        label = "Ops and peak memory of each device in the whole run"
        table(rows.DEVICE_COLUMNS[:3], made, "ops", label=label, empty=_no_devices(page))
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
    table(rows.MEMBER_COLUMNS, made, "members", height=260, label="Ops of the group")
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
        empty=page.stage.uncrossed if not hops else "No hop belongs to what is picked.",
        label="Transfers between devices",
    )
    if event and event["type"] == "row":
        row = event["row"]
        page.go(dataclasses.replace(page.address, hop=None if row is None else int(row)))


def timeline_view(page: Page) -> None:
    """The whole run in bins; a stretch of it bar by bar."""
    store, devices = page.open.store, page.snapshot.devices
    overview = store.binned(_BINS)
    shown = [binned for binned in overview.lanes if page.focus.shows(binned.lane)]
    window = page.address.window or _middle(overview)
    width = units.duration((overview.t1_s - overview.t0_s) / _BINS)
    st.caption(
        f"Height: the share of each {width} that is busy, or the number in it; at the right what the full "
        "height is. Drag over a stretch to see its events below."
    )
    figure = overview_figure(dataclasses.replace(overview, lanes=tuple(shown)), window, devices=devices)
    event = live_figure(figure, "overview", events=("select",), label="Activity over the run")
    if event and event["type"] == "select":
        page.go(dataclasses.replace(page.address, window=(max(0.0, event["x0"]), event["x1"])))
    if window is None:
        return
    # What is counted together is written down at the end of its stretch, which may lie behind the window.
    part = within(store.window(window[0], window[1] + COUNTED_S), *window)
    lanes = tuple(lane for lane in part.lanes if page.focus.shows(lane))
    kept = {lane.id for lane in lanes}
    bars = tuple(bar for bar in part.bars if bar.lane in kept)
    chosen = "" if page.address.window else ", from the middle"
    st.markdown(
        f"**From {units.duration(window[0])} to {units.duration(window[1])}** :gray["
        f"{units.duration(window[1] - window[0])}{chosen}]"
    )
    st.caption(
        "The first 200 of an op, a transfer or a wait at a line are drawn one by one, later ones as pale "
        f"ranges, counted per {units.duration(COUNTED_S)}. Transfers inside a graph are counted above, "
        "with its calls, and not drawn here."
    )
    narrowed = dataclasses.replace(part, lanes=lanes, bars=bars)
    event = live_figure(window_figure(narrowed, devices=devices), "window", label="Events of the stretch")
    if event and isinstance(event.get("customdata"), list):
        _pick_bar(page, event["customdata"][0])


def _middle(overview: Overview) -> tuple[float, float] | None:
    """A short stretch in the middle of the busiest lane's training, where the reader has chosen none."""
    busiest = max(overview.lanes, key=_activity, default=None)
    if busiest is None or overview.t1_s <= overview.t0_s:
        return None
    width = (overview.t1_s - overview.t0_s) / len(busiest.values)
    training = next((phase.t0_s for phase in overview.phases if phase.name == "training"), overview.t0_s)
    values = [
        value if overview.t0_s + index * width >= training else 0.0
        for index, value in enumerate(busiest.values)
    ]
    so_far = list(itertools.accumulate(values))
    at = next(index for index, reached in enumerate(so_far) if reached >= so_far[-1] / 2)
    middle = overview.t0_s + (at + 0.5) * width
    reach = _WINDOW_BINS * width / 2
    return max(overview.t0_s, middle - reach), min(overview.t1_s, middle + reach)


def _activity(binned: Binned) -> tuple[bool, float]:
    return binned.lane.kind == "call", sum(binned.values)


def _pick_bar(page: Page, key: object) -> None:
    row = next((row for row, hop in enumerate(page.snapshot.hops) if key in hop.keys), None)
    if row is not None:
        page.go(dataclasses.replace(page.address.with_filter(), hop=row))
        return
    known = next((known for known in page.snapshot.tables.keys if known.id == key), None)
    if known is not None and known.kind in ("call", "node") and known.fields.get("graph"):
        page.go(dataclasses.replace(page.address, graphs=(str(known.fields["graph"]),)))


def memory_view(page: Page) -> None:
    """Memory over time, and the peaks."""
    series = page.open.store.memory_series()
    if page.focus.devices:
        series = [one for one in series if one.device in page.focus.devices] or series
    figure = memory_figure(series, devices=page.snapshot.devices, height=340)
    live_figure(figure, "memory", events=(), label="Memory of each device over time")
    made = page.row_maker.devices(page.snapshot.ops, page.snapshot.memory)
    label = "Ops and peak memory of each device in the whole run"
    table(rows.DEVICE_COLUMNS, made, "devices", label=label, empty=_no_devices(page))


def syncs_view(page: Page) -> None:
    """Where Python waited for a device."""
    st.caption("Where Python waited for a device's value, or took it.")
    found = [
        sync for sync in page.snapshot.syncs if not page.focus.devices or sync.device in page.focus.devices
    ]
    made = page.row_maker.syncs(found)
    table(rows.SYNC_COLUMNS, made, "syncs", empty="Python waited for no device.", label="Waits for devices")


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


VIEWS: dict[str, Callable[[Page], Any]] = {
    "Placement": placement_view,
    "Timeline": timeline_view,
    "Memory": memory_view,
    "Syncs": syncs_view,
    "Training": training_view,
    "Log": log_view,
    "Command": command_view,
}
