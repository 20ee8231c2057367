"""The timeline of a run: an overview in bins, with what was sampled below it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from app.views import tracks, units
from app.views.colors import LIVE, Theme, with_alpha
from app.views.figures import Figure, empty_figure, plain, remark
from app.views.sample_words import Moments
from app.views.samples_data import Samples
from app.views.timeline_data import Binned, Overview, Phase
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

OVERVIEW_LANE_PX = 34
THIN = 0.6
"""Height of a lane that tells little, as a part of a lane's."""

FLOOR = 0.92
"""Where in its row a lane's curve starts from."""

NAMED_PART = 0.06
"""What part of the run a phase has to be for its name to find room over it."""
_POINTED = 240
"""Points that tell what is under the pointer where there is no lane to go by, and behind the lanes' end."""
_ROUNDED = 1e-6

_THIN_KINDS = ("node", "sync")


def overview_figure(
    overview: Overview,
    window: tuple[float, float] | None = None,
    theme: Theme = LIVE,
    *,
    devices: Sequence[str] = (),
    samples: Samples | None = None,
) -> Figure:
    """Activity of each lane over the run; a box drawn in it chooses the window (a ``select`` event).

    Lanes of one kind share their scale, so heights compare; what the full height is stands at the right.
    Below them are the sampled figures. Under the pointer are the lanes in which anything happens, in the
    order they stand in, and the samples nearest to it.
    """
    lanes = sorted(
        (binned for binned in overview.lanes if binned.values), key=lambda binned: row_order(binned.lane)
    )
    rows = tracks.tracks_of(samples)
    if not lanes and not rows:
        return empty_figure(NO_EVENTS, theme)
    hues = hues_of(devices, (binned.lane for binned in lanes), samples, theme)
    tops = _scales(lanes)
    heights = [THIN if binned.lane.kind in _THIN_KINDS else 1.0 for binned in lanes]
    data, scales, above = [], [], 0.0
    for height, binned in zip(heights, lanes, strict=True):
        top = tops[binned.lane.kind, binned.unit]
        data.append(_floor(overview, above + FLOOR * height, theme))
        data.append(_activity(binned, overview, above, height, top, lane_color(binned.lane, hues, theme)))
        scales.append(_scale(binned, above + height / 2, top, theme))
        above += height
    span = _span(overview, samples)
    if samples is not None and rows:
        more, notes = sampled_rows(rows, samples, above, span, hues, theme)
        data += more
        scales += notes
    bottom = above + (tracks.GAP + sum(track.height for track in rows) if rows else 0.0)
    data.append(_pointed(overview, lanes, bottom, span, samples))
    layout = rows_layout([binned.lane for binned in lanes], OVERVIEW_LANE_PX, hues, theme, heights, rows)
    layout["margin"]["r"] = SCALE_PX
    layout |= {
        "dragmode": "select",
        "selectdirection": "h",
        "hovermode": "x",
        "newselection": {"line": {"color": theme.text, "width": 1, "dash": "solid"}},
        "shapes": [*_phase_shapes(overview.phases, theme), *_window_shape(window, theme)],
        "annotations": [*_phase_names(overview.phases, span, theme), *scales],
    }
    layout["xaxis"]["range"] = list(span)
    layout["xaxis"]["hoverformat"] = ".4~g"
    return {"data": data, "layout": layout}


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


def _span(overview: Overview, samples: Samples | None) -> tuple[float, float]:
    """The whole run: samples go on while nothing is recorded, as at its end."""
    sampled_until = samples.t_s[-1] if samples is not None and samples.t_s else overview.t1_s
    return overview.t0_s, max(overview.t1_s, sampled_until)


def _pointed(
    overview: Overview,
    lanes: Sequence[Binned],
    below: float,
    span: tuple[float, float],
    samples: Samples | None,
) -> dict[str, Any]:
    """Points that are not seen, one a bin, which say what happens in it."""
    stretches = _stretches(overview, lanes, span)
    moments = Moments(samples) if samples is not None else None
    told = []
    for index, (start, width) in enumerate(stretches):
        rows = _told(start, width, lanes, index)
        if samples is not None and moments is not None:
            rows += map(plain, moments.told(start + width / 2, max(width / 2, samples.every_s)))
        told.append("<br>".join(rows if len(rows) > 1 else [*rows, "no event"]))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [round(start + width / 2, 6) for start, width in stretches],
        "y": [round(below / 2, 4)] * len(stretches),
        "marker": {"opacity": 0},
        "hovertext": told,
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverlabel": {"align": "left"},
    }


def _stretches(
    overview: Overview, lanes: Sequence[Binned], span: tuple[float, float]
) -> list[tuple[float, float]]:
    """Start and width of each bin, and of what comes after the last one, seconds.

    Samples may go on far longer than what was recorded, so the points after that are bounded in number.
    """
    bins = max((len(binned.values) for binned in lanes), default=_POINTED)
    width = (overview.t1_s - overview.t0_s if lanes else span[1] - span[0]) / bins or 1.0
    found = [(overview.t0_s + index * width, width) for index in range(bins)]
    behind = overview.t0_s + bins * width
    left = span[1] - behind
    # A remainder below a part of a bin is how the bins' width was rounded.
    more = math.ceil(min(left / width - _ROUNDED, _POINTED))
    return found + [(behind + index * left / more, left / more) for index in range(more)]


def _told(start_s: float, width_s: float, lanes: Sequence[Binned], index: int) -> list[str]:
    rows = [f"<b>{units.duration(start_s)}</b>, {units.duration(width_s)} long"]
    active = [binned for binned in lanes if index < len(binned.values) and binned.values[index] > 0]
    return rows + [
        f"{plain(lane_title(binned.lane))}: {_amount(binned.values[index], binned.unit)}" for binned in active
    ]


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


def _phase_names(phases: Sequence[Phase], span: tuple[float, float], theme: Theme) -> list[dict[str, Any]]:
    """The names of those that have room for theirs."""
    least_s = (span[1] - span[0]) * NAMED_PART
    return [
        remark(phase.name, theme, xref="x", x=phase.t0_s, y=1, yshift=14, xanchor="left")
        for phase in phases
        if phase.t1_s - phase.t0_s >= least_s
    ]


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
