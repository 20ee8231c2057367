"""The bars of one stretch of a run's timeline, with what was sampled in it."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from app.views import tracks, units
from app.views.colors import LIVE, Theme, with_alpha
from app.views.figures import Figure, empty_figure, plain, remark
from app.views.samples_data import Samples
from app.views.timeline_data import COUNTED_S, Bar, Lane, Window
from app.views.timeline_rows import (
    NO_EVENTS,
    SCALE_PX,
    hues_of,
    lane_color,
    lane_title,
    row_order,
    rows_layout,
    sampled_rows,
)

BARS_SHOWN = 2000
LANE_PX = 40
ROWS = 4
"""Bars that overlap in time share a lane in at most this many rows."""


def window_figure(
    window: Window, theme: Theme = LIVE, *, devices: Sequence[str] = (), samples: Samples | None = None
) -> Figure:
    """The events of one stretch: bars for what took time, ticks for instants; below, what was sampled in it.

    A click on an event hands back ``[key, lane id]`` as its customdata. At most `BARS_SHOWN` bars are drawn,
    the longest, and the figure says so.
    """
    filled = {bar.lane for bar in window.bars}
    lanes = sorted((lane for lane in window.lanes if lane.id in filled), key=row_order)
    rows = tracks.tracks_of(samples)
    if not lanes and not rows:
        nothing = empty_figure(NO_EVENTS, theme)
        nothing["layout"]["xaxis"]["range"] = [window.t0_s, window.t1_s]
        return nothing
    hues = hues_of(devices, lanes, samples, theme)
    shown = sorted(window.bars, key=lambda bar: -bar.dur_s)[:BARS_SHOWN]
    by_lane: dict[str, list[Bar]] = defaultdict(list)
    for bar in sorted(shown, key=lambda bar: (bar.t0_s, -bar.dur_s)):
        by_lane[bar.lane].append(bar)
    data = []
    for row, lane in enumerate(lanes):
        data += _lane_bars(
            lane, by_lane[lane.id], row, window=window, color=lane_color(lane, hues, theme), theme=theme
        )
    layout = rows_layout(lanes, LANE_PX, hues, theme, tracks_below=rows)
    layout["barmode"] = "overlay"
    layout["dragmode"] = "pan"
    layout["uirevision"] = f"{window.t0_s}-{window.t1_s}"
    layout["uniformtext"] = {"mode": "hide", "minsize": 10}
    layout["xaxis"]["range"] = [window.t0_s, window.t1_s]
    notes: list[dict[str, Any]] = []
    if samples is not None and rows:
        span = (window.t0_s, window.t1_s)
        more, notes = sampled_rows(rows, samples, len(lanes), span, hues, theme, hover=True)
        data += more
        layout["margin"]["r"] = SCALE_PX
    if window.total > len(shown):
        drawn, total = units.count(len(shown)), units.count(window.total)
        text = f"The longest {drawn} of {total} events; choose a shorter window for the rest"
        notes.append(remark(text, theme, x=1, y=1, yshift=16, xanchor="right"))
    if notes:
        layout["annotations"] = notes
    return {"data": data, "layout": layout}


def within(window: Window, t0_s: float, t1_s: float) -> Window:
    """A part of a window: the bars that reach into it, counted ones with the stretch they stand for."""
    kept = tuple(bar for bar in window.bars if bar.start_s < t1_s and bar.end_s >= t0_s)
    # Those that are not here cannot be told apart, so they stay in the total.
    total = len(kept) if window.total == len(window.bars) else window.total
    used = {bar.lane for bar in kept}
    lanes = tuple(lane for lane in window.lanes if lane.id in used)
    return dataclasses.replace(window, t0_s=t0_s, t1_s=t1_s, lanes=lanes, bars=kept, total=total)


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
