"""What the timeline's overview and the bars of a stretch share: rows of lanes, and of samples below them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.views import tracks
from app.views.colors import Theme, device_colors, device_order
from app.views.figures import axis, base_layout, muted, plain, swatch
from app.views.samples_data import Samples
from app.views.timeline_data import Lane

NO_EVENTS = "Nothing was recorded in this stretch."

SCALE_PX = 92
"""Room at the right for what each row's height means."""

_KINDS = {
    "call": "",
    "node": "sampled window",
    "op": "eager ops",
    "hop": "transfers",
    "collective": "collective",
    "sync": "waits",
}
"""What a lane of each kind is called, in the order they stand in."""


def lane_title(lane: Lane) -> str:
    """A lane's name with what is in it: ``gpu:0 eager ops``."""
    return " ".join(part for part in (lane.process, lane.label, _KINDS.get(lane.kind, lane.kind)) if part)


def hues_of(
    devices: Sequence[str], lanes: Iterable[Lane], samples: Samples | None, theme: Theme
) -> dict[str, str]:
    """The hue of each device that is drawn; `devices` are all of the run's."""
    sampled = [device for curve in samples.curves for device in curve.source.devices] if samples else []
    return device_colors([*devices, *(lane.device for lane in lanes if lane.device), *sampled], theme)


def rows_layout(
    lanes: Sequence[Lane],
    lane_px: int,
    hues: Mapping[str, str],
    theme: Theme,
    heights: Sequence[float] = (),
    tracks_below: Sequence[tracks.Track] = (),
) -> dict[str, Any]:
    """The layout of a figure with these rows from its top down, with what stands beside each.

    `heights` are the lanes' in parts of `lane_px`, all 1 where none are given.
    """
    rows = list(heights or [1.0] * len(lanes))
    gap = [tracks.GAP] if tracks_below else []
    ends = list(itertools.accumulate([*rows, *gap, *(track.height for track in tracks_below)]))
    middles = [(start + end) / 2 for start, end in itertools.pairwise([0.0, *ends])]
    if tracks_below:
        del middles[len(rows)]
    ticks = []
    for lane in lanes:
        mark = swatch(hues[lane.device]) + " " if lane.device else ""
        kind = _remark(lane)
        ticks.append(f"{mark}{plain(lane.label)}" + (f" {muted(kind, theme)}" if kind else ""))
    ticks += [tracks.label(track, hues, theme) for track in tracks_below]
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


def row_order(lane: Lane) -> tuple[int, list[tuple[int, str, str, int]]]:
    """Sort key of lanes by what is in them, those of devices by the device, or by both ends of a way."""
    kinds = list(_KINDS)
    kind = kinds.index(lane.kind) if lane.kind in kinds else len(kinds)
    return kind, [device_order(end) for end in lane.label.split(" → ")] if lane.device else []


def _remark(lane: Lane) -> str:
    return " ".join(part for part in (_KINDS.get(lane.kind, lane.kind), lane.process) if part)


def lane_color(lane: Lane, hues: Mapping[str, str], theme: Theme) -> str:
    """Its device's hue; grey for a lane of no one device."""
    return hues[lane.device] if lane.device else theme.quiet


def sampled_rows(
    rows: Sequence[tracks.Track],
    samples: Samples,
    above: float,
    span: tuple[float, float],
    hues: Mapping[str, str],
    theme: Theme,
    *,
    hover: bool = False,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The traces of the tracks below `above`, and what is written beside them."""
    notes = [tracks.heading(samples, above, theme)]
    data: list[dict[str, Any]] = []
    above += tracks.GAP
    for track in rows:
        data += tracks.traces(track, samples, above, span, hues, theme, hover=hover)
        notes.append(tracks.scale(track, above, theme))
        above += track.height
    return data, notes
