"""The timeline of a run: an overview in bins, and the bars of a window chosen in it."""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from app.views import units
from app.views.colors import LIVE, Theme, device_colors, with_alpha
from app.views.figures import Figure, axis, base_layout, empty_figure, muted, plain, remark, swatch
from app.views.timeline_data import COUNTED_S, Bar, Binned, Lane, Overview, Phase, Window

BARS_SHOWN = 2000
LANE_PX = 40
OVERVIEW_LANE_PX = 34
ROWS = 4
"""Bars that overlap in time share a lane in at most this many rows."""

THIN = 0.6
"""Height of a lane that tells little, as a part of a lane's."""

SCALE_PX = 92
"""Room at the right for what each lane's height means."""

FLOOR = 0.92
"""Where in its row a lane's curve starts from."""

NO_EVENTS = "Nothing was recorded in this stretch."

_KINDS = {
    "call": "",
    "node": "sampled window",
    "op": "eager ops",
    "hop": "transfers",
    "collective": "collective",
    "sync": "waits",
}
"""What a lane of each kind is called, in the order they stand in."""

_THIN_KINDS = ("node", "sync")


def lane_title(lane: Lane) -> str:
    """A lane's name with what is in it: ``gpu:0 eager ops``."""
    return " ".join(part for part in (lane.process, lane.label, _KINDS.get(lane.kind, lane.kind)) if part)


def overview_figure(
    overview: Overview,
    window: tuple[float, float] | None = None,
    theme: Theme = LIVE,
    *,
    devices: Sequence[str] = (),
) -> Figure:
    """Activity of each lane over the run; a box drawn in it chooses the window (a ``select`` event).

    Lanes of one kind share their scale, so heights compare; what the full height is stands at the right.
    Under the pointer are the lanes in which anything happens, in the order they stand in.
    """
    lanes = sorted(
        (binned for binned in overview.lanes if binned.values), key=lambda binned: _kind_order(binned.lane)
    )
    if not lanes:
        return empty_figure(NO_EVENTS, theme)
    hues = device_colors([*devices, *_devices(binned.lane for binned in lanes)], theme)
    tops = _scales(lanes)
    heights = [THIN if binned.lane.kind in _THIN_KINDS else 1.0 for binned in lanes]
    data, scales, above = [], [], 0.0
    for height, binned in zip(heights, lanes, strict=True):
        top = tops[binned.lane.kind, binned.unit]
        data.append(_floor(overview, above + FLOOR * height, theme))
        data.append(_activity(binned, overview, above, height, top, _color(binned.lane, hues, theme)))
        scales.append(_scale(binned, above + height / 2, top, theme))
        above += height
    data.append(_pointed(overview, lanes, above))
    layout = _layout([binned.lane for binned in lanes], OVERVIEW_LANE_PX, hues, theme, heights)
    layout["margin"]["r"] = SCALE_PX
    layout |= {
        "dragmode": "select",
        "selectdirection": "h",
        "hovermode": "x",
        "newselection": {"line": {"color": theme.text, "width": 1, "dash": "solid"}},
        "shapes": [*_phase_shapes(overview.phases, theme), *_window_shape(window, theme)],
        "annotations": [*(_phase_name(phase, theme) for phase in overview.phases), *scales],
    }
    layout["xaxis"]["range"] = [overview.t0_s, overview.t1_s]
    layout["xaxis"]["hoverformat"] = ".4~g"
    return {"data": data, "layout": layout}


def window_figure(window: Window, theme: Theme = LIVE, *, devices: Sequence[str] = ()) -> Figure:
    """The events of one stretch: bars for what took time, ticks for instants.

    A click hands back ``[key, lane id]`` as its customdata. At most `BARS_SHOWN` bars are drawn, the
    longest, and the figure says so.
    """
    filled = {bar.lane for bar in window.bars}
    lanes = sorted((lane for lane in window.lanes if lane.id in filled), key=_kind_order)
    if not lanes:
        return empty_figure(NO_EVENTS, theme)
    hues = device_colors([*devices, *_devices(lanes)], theme)
    shown = sorted(window.bars, key=lambda bar: -bar.dur_s)[:BARS_SHOWN]
    by_lane: dict[str, list[Bar]] = defaultdict(list)
    for bar in sorted(shown, key=lambda bar: (bar.t0_s, -bar.dur_s)):
        by_lane[bar.lane].append(bar)
    data = []
    for row, lane in enumerate(lanes):
        data += _lane_bars(
            lane, by_lane[lane.id], row, window=window, color=_color(lane, hues, theme), theme=theme
        )
    layout = _layout(lanes, LANE_PX, hues, theme)
    layout["barmode"] = "overlay"
    layout["dragmode"] = "pan"
    layout["uirevision"] = f"{window.t0_s}-{window.t1_s}"
    layout["uniformtext"] = {"mode": "hide", "minsize": 10}
    layout["xaxis"]["range"] = [window.t0_s, window.t1_s]
    if window.total > len(shown):
        drawn, total = units.count(len(shown)), units.count(window.total)
        text = f"The longest {drawn} of {total} events; choose a shorter window for the rest"
        layout["annotations"] = [remark(text, theme, x=1, y=1, yshift=16, xanchor="right")]
    return {"data": data, "layout": layout}


def within(window: Window, t0_s: float, t1_s: float) -> Window:
    """A part of a window: the bars that reach into it, counted ones with the stretch they stand for."""
    kept = tuple(bar for bar in window.bars if bar.start_s < t1_s and bar.end_s >= t0_s)
    # Those that are not here cannot be told apart, so they stay in the total.
    total = len(kept) if window.total == len(window.bars) else window.total
    used = {bar.lane for bar in kept}
    lanes = tuple(lane for lane in window.lanes if lane.id in used)
    return dataclasses.replace(window, t0_s=t0_s, t1_s=t1_s, lanes=lanes, bars=kept, total=total)


def _layout(
    lanes: Sequence[Lane],
    lane_px: int,
    hues: Mapping[str, str],
    theme: Theme,
    heights: Sequence[float] = (),
) -> dict[str, Any]:
    """`heights` are the lanes' in parts of `lane_px`, all 1 where none are given."""
    ends = list(itertools.accumulate(heights or [1.0] * len(lanes)))
    middles = [(start + end) / 2 for start, end in itertools.pairwise([0.0, *ends])]
    ticks = []
    for lane in lanes:
        mark = swatch(hues[lane.device]) + " " if lane.device else ""
        kind = _remark(lane)
        ticks.append(f"{mark}{plain(lane.label)}" + (f" {muted(kind, theme)}" if kind else ""))
    return base_layout(
        theme,
        round(ends[-1] * lane_px) + 74,
        margin={"l": 130, "r": 16, "t": 28, "b": 46},
        xaxis=axis(
            theme,
            ticksuffix=" s",
            title={"text": muted("since start", theme), "standoff": 6},
            nticks=10,
            showline=True,
        ),
        yaxis=axis(
            theme,
            range=[ends[-1], 0],
            tickvals=middles,
            ticktext=ticks,
            showgrid=False,
            fixedrange=True,
        ),
    )


def _kind_order(lane: Lane) -> int:
    kinds = list(_KINDS)
    return kinds.index(lane.kind) if lane.kind in kinds else len(kinds)


def _remark(lane: Lane) -> str:
    return " ".join(part for part in (_KINDS.get(lane.kind, lane.kind), lane.process) if part)


def _devices(lanes: Any) -> list[str]:
    return [lane.device for lane in lanes if lane.device]


def _color(lane: Lane, hues: Mapping[str, str], theme: Theme) -> str:
    return hues[lane.device] if lane.device else theme.quiet


def _scales(lanes: Sequence[Binned]) -> dict[tuple[str, str], float]:
    tops: dict[tuple[str, str], float] = defaultdict(float)
    for binned in lanes:
        key = binned.lane.kind, binned.unit
        tops[key] = max(tops[key], 1.0 if binned.unit == "busy" else max(binned.values))
    return tops


def _scale(binned: Binned, middle: float, top: float, theme: Theme) -> dict[str, Any]:
    """What the full height of a lane is."""
    text = "100 % busy" if binned.unit == "busy" else _amount(top, binned.unit)
    return remark(text, theme, y=middle, yref="y", xanchor="left", yanchor="middle", xshift=6, x=1)


def _pointed(overview: Overview, lanes: Sequence[Binned], below: float) -> dict[str, Any]:
    """Points that are not seen, one a bin, which say what happens in it."""
    bins = max(len(binned.values) for binned in lanes)
    width = (overview.t1_s - overview.t0_s) / bins
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [round(overview.t0_s + (index + 0.5) * width, 6) for index in range(bins)],
        "y": [round(below / 2, 4)] * bins,
        "marker": {"opacity": 0},
        "hovertext": [_told(overview.t0_s + index * width, width, lanes, index) for index in range(bins)],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverlabel": {"align": "left"},
    }


def _told(start_s: float, width_s: float, lanes: Sequence[Binned], index: int) -> str:
    rows = [f"<b>{units.duration(start_s)}</b>, {units.duration(width_s)} long"]
    active = [binned for binned in lanes if index < len(binned.values) and binned.values[index] > 0]
    rows += [
        f"{plain(lane_title(binned.lane))}: {_amount(binned.values[index], binned.unit)}" for binned in active
    ]
    return "<br>".join(rows if active else [*rows, "no event"])


def _floor(overview: Overview, y: float, theme: Theme) -> dict[str, Any]:
    """The lane's base line; Plotly fills a curve down to the trace before it."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [overview.t0_s, overview.t1_s],
        "y": [y, y],
        "line": {"color": theme.grid, "width": 1},
        "hoverinfo": "skip",
    }


def _activity(
    binned: Binned, overview: Overview, above: float, height: float, top: float, color: str
) -> dict[str, Any]:
    bins = len(binned.values)
    width = (overview.t1_s - overview.t0_s) / bins
    values = [*binned.values, binned.values[-1]]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": plain(lane_title(binned.lane)),
        "x": [round(overview.t0_s + index * width, 6) for index in range(bins + 1)],
        "y": [
            round(above + height * (FLOOR - 0.8 * min(1.0, value / top if top else 0.0)), 4)
            for value in values
        ],
        "line": {"color": color, "width": 1.2, "shape": "hv"},
        "fill": "tonexty",
        "fillcolor": with_alpha(color, 0.35),
        "hoverinfo": "skip",
    }


def _amount(value: float, unit: str) -> str:
    if unit == "busy":
        return f"{units.percent(value) if value >= 0.005 else '< 1 %'} busy"
    if unit == "bytes":
        return units.size(value)
    return units.plural(round(value), unit.removesuffix("s"))


def _phase_shapes(phases: Sequence[Phase], theme: Theme) -> list[dict[str, Any]]:
    """Every other phase on a faint band, so that their ends show."""
    return [
        {
            "type": "rect",
            "xref": "x",
            "yref": "paper",
            "x0": phase.t0_s,
            "x1": phase.t1_s,
            "y0": 0,
            "y1": 1,
            "fillcolor": with_alpha(theme.muted, 0.09 if index % 2 else 0.03),
            "line": {"width": 0},
            "layer": "below",
        }
        for index, phase in enumerate(phases)
    ]


def _phase_name(phase: Phase, theme: Theme) -> dict[str, Any]:
    return remark(phase.name, theme, xref="x", x=phase.t0_s, y=1, yshift=14, xanchor="left")


def _window_shape(window: tuple[float, float] | None, theme: Theme) -> list[dict[str, Any]]:
    if window is None:
        return []
    return [
        {
            "type": "rect",
            "xref": "x",
            "yref": "paper",
            "x0": window[0],
            "x1": window[1],
            "y0": 0,
            "y1": 1,
            "line": {"color": theme.text, "width": 1.5},
            "fillcolor": with_alpha(theme.text, 0.06),
            "layer": "above",
        }
    ]


def _lane_bars(
    lane: Lane, bars: Sequence[Bar], row: int, *, window: Window, color: str, theme: Theme
) -> list[dict[str, Any]]:
    """One trace for what took time, cut at the window's ends so that its label is in view, one for ticks."""
    timed = [bar for bar in bars if bar.dur_s > 0]
    instants = [bar for bar in bars if bar.dur_s <= 0 and not bar.counted]
    counted = [bar for bar in bars if bar.counted]
    traces: list[dict[str, Any]] = []
    if timed:
        levels = _levels(timed)
        rows = max(levels) + 1
        high = 0.84 / rows
        starts = [max(bar.t0_s, window.t0_s) for bar in timed]
        ends = [min(bar.t0_s + bar.dur_s, window.t1_s) for bar in timed]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": plain(lane_title(lane)),
                "base": starts,
                "x": [round(max(0.0, end - start), 9) for start, end in zip(starts, ends, strict=True)],
                "y": [round(row + 0.08 + high * (level + 0.5), 4) for level in levels],
                "width": round(high * 0.94, 4),
                "text": [plain(bar.label) if rows <= 2 else "" for bar in timed],
                "textposition": "inside",
                "insidetextanchor": "start",
                "constraintext": "inside",
                "textangle": 0,
                "insidetextfont": {"color": theme.text, "size": 12},
                "marker": {"color": with_alpha(color, 0.4), "line": {"color": color, "width": 1}},
                **_hover(lane, timed),
            }
        )
    if counted:
        traces.append(_counted_bars(lane, counted, row, window, color))
    if instants:
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": plain(lane_title(lane)),
                "x": [bar.t0_s for bar in instants],
                "y": [row + 0.5] * len(instants),
                "marker": {
                    "symbol": "line-ns",
                    "size": 18,
                    "line": {"color": color, "width": 1.6},
                },
                **_hover(lane, instants),
            }
        )
    return traces


def _counted_bars(lane: Lane, bars: Sequence[Bar], row: int, window: Window, color: str) -> dict[str, Any]:
    """Pale ranges: the counted executions are somewhere in them."""
    starts = [max(bar.start_s, window.t0_s) for bar in bars]
    ends = [min(bar.end_s, window.t1_s) for bar in bars]
    return {
        "type": "bar",
        "orientation": "h",
        "name": plain(lane_title(lane)),
        "base": starts,
        "x": [round(max(0.0, end - start), 9) for start, end in zip(starts, ends, strict=True)],
        "y": [row + 0.5] * len(bars),
        "width": 0.5,
        "marker": {"color": with_alpha(color, 0.12), "line": {"color": with_alpha(color, 0.5), "width": 1}},
        **_hover(lane, bars),
    }


def _levels(bars: Sequence[Bar]) -> list[int]:
    """The row of each bar, sorted by start: the first that is free, the last when none is."""
    ends = [float("-inf")] * ROWS
    levels = []
    for bar in bars:
        level = next((index for index, end in enumerate(ends) if end <= bar.t0_s), ROWS - 1)
        ends[level] = max(ends[level], bar.t0_s + bar.dur_s)
        levels.append(level)
    return levels


def _hover(lane: Lane, bars: Sequence[Bar]) -> dict[str, Any]:
    return {
        "hovertext": [bar_text(lane, bar) for bar in bars],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "customdata": [[bar.key, bar.lane] for bar in bars],
    }


def bar_text(lane: Lane, bar: Bar) -> str:
    """What is said about a bar under the pointer; safe to show."""
    rows = [f"<b>{plain(bar.label)}</b>", f"{plain(lane_title(lane))}, at {units.duration(bar.t0_s)}"]
    if bar.dur_s > 0:
        rows.append(f"{units.duration(bar.dur_s)} ({plain(bar.basis)})")
    if bar.count > 1:
        rows.append(
            f"{units.count(bar.count)} times in the {units.duration(COUNTED_S)} before, counted together"
        )
    if bar.bytes is not None:
        rows.append(units.size(bar.bytes))
    if bar.step is not None:
        rows.append(f"step {units.count(bar.step)}")
    if bar.site:
        rows.append(plain(bar.site))
    return "<br>".join(rows)
