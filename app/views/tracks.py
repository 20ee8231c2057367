"""Sampled figures as rows under the timeline's lanes: one a figure, a line a card, in each device's hue."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.views import units
from app.views.colors import Theme, with_alpha
from app.views.figures import muted, plain, remark, swatch
from app.views.sample_words import drawn_values, harmful, percent, watts
from app.views.samples_data import CPU, MEMORY, POWER, RUN_MEMORY, UTILIZATION, Curve, Sampled, Samples

HEIGHT, HIGHER, MANY = 1.5, 2.4, 4
"""Of a track in heights of a lane, of one with more than so many lines."""
GAP = 0.8
"""Between the lanes and the tracks, where it is said what these are; in heights of a lane."""
FLOOR, USED = 0.94, 0.82
"""Where in its row a track's zero lies, and how much of the row its highest value takes."""
UTILISATION = "utilisation"
_NAMED = 3
"""Up to so many lines are named beside their track; of more only the hues are shown."""
_FEW = 60
"""Up to so many points each is marked."""
_MARK_PX = 3.5
_DASHES = ("solid", "dash", "dot", "dashdot")


@dataclasses.dataclass(frozen=True)
class Track:
    """One figure of all that has it."""

    title: str
    curves: tuple[Curve, ...]
    top: float
    """The value that the full height stands for."""
    told: Callable[[float], str]
    """A value with its unit."""

    @property
    def height(self) -> float:
        """In heights of a lane."""
        return HIGHER if len(self.curves) > MANY else HEIGHT


def tracks_of(samples: Samples | None) -> list[Track]:
    """The rows that have something to draw; the memory of the run's processes where no card has any."""
    if samples is None:
        return []
    load, memory, power = (samples.of(field, cards=True) for field in (UTILIZATION, MEMORY, POWER))
    found = [
        Track(UTILISATION, tuple(load), 100.0, percent),
        Track("memory used", tuple(memory), _top(memory), units.size),
        Track("power", tuple(power), _top(power), watts),
        Track("CPU", tuple(reversed(samples.of(CPU, cards=False))), 100.0, percent),
    ]
    if not any((load, memory, power)):
        used = samples.of(RUN_MEMORY, cards=False)
        found.append(Track("memory used", tuple(used), _top(used), units.size))
    return [track for track in found if track.curves]


def label(track: Track, hues: Mapping[str, str], theme: Theme) -> str:
    """What stands beside a track; safe to show. Whose lines they are is said once, beside the first."""
    if track.curves[0].source.is_card and track.title != UTILISATION:
        return plain(track.title)
    few = len(track.curves) <= _NAMED
    marks = (" " if few else "").join(
        swatch(color_of(curve.source, hues, theme)) + (f" {muted(curve.source.legend, theme)}" if few else "")
        for curve in track.curves
    )
    return f"{plain(track.title)}<br>{marks}"


def color_of(source: Sampled, hues: Mapping[str, str], theme: Theme) -> str:
    """A device's own hue; a card that is none of the run's, as far as is known, has none."""
    if source.devices:
        return hues.get(source.devices[0], theme.muted)
    return theme.muted if source.is_card else theme.text if source.id == "run" else theme.quiet


def scale(track: Track, above: float, theme: Theme) -> dict[str, Any]:
    """What the full height of a track is, at its right."""
    y = above + track.height * (FLOOR - USED)
    return remark(
        track.told(track.top), theme, y=y, yref="y", xanchor="left", yanchor="middle", xshift=6, x=1
    )


def heading(samples: Samples, above: float, theme: Theme) -> dict[str, Any]:
    """What all tracks are, in the gap over them."""
    often = "once a second" if samples.every_s == 1 else f"every {units.duration(samples.every_s)}"
    told = f"sampled {often}"
    cores = next((curve.source.cores for curve in samples.curves if curve.source.cores), None)
    if cores is not None:
        told += f"; 100 % of CPU is all {units.plural(cores, 'core')}"
    if samples.mean_of_s is not None:
        told += f"; each point is the mean of {units.duration(samples.mean_of_s)}, of memory the most"
    return remark(told, theme, x=0, y=above + GAP * 0.62, yref="y", xanchor="left", yanchor="middle")


def traces(
    track: Track,
    samples: Samples,
    above: float,
    span: tuple[float, float],
    hues: Mapping[str, str],
    theme: Theme,
    *,
    hover: bool,
) -> list[dict[str, Any]]:
    """A track whose row begins at `above`: its base line, and a line a curve.

    A line is broken where samples are missing; the base line goes over `span`, seconds. With `hover` each
    point tells itself under the pointer.
    """
    zero = above + track.height * FLOOR
    drawn: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": list(span),
            "y": [zero, zero],
            "line": {"color": theme.grid, "width": 1},
            "hoverinfo": "skip",
        }
    ]
    strangers = [curve.source for curve in track.curves if curve.source.is_card and not curve.source.devices]
    # The run's over the machine's, which it is a part of.
    for curve in reversed(track.curves):
        color = color_of(curve.source, hues, theme)
        values = drawn_values(curve)
        dash = _DASHES[strangers.index(curve.source) % len(_DASHES)] if curve.source in strangers else "solid"
        heights = [
            None if value is None else round(zero - track.height * USED * _share(value, track.top), 3)
            for value in values
        ]
        if len(track.curves) == 1:
            drawn.append(_filled(samples.t_s, heights, zero, color))
        drawn.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": plain(f"{curve.source.label} {track.title}"),
                "x": list(samples.t_s),
                "y": heights,
                "connectgaps": False,
                "line": {"color": color, "width": 1.6, "dash": dash},
                "marker": {"color": color, "size": _marks(values), "line": {"width": 0}},
                **(_hover(track, curve, samples) if hover else {"hoverinfo": "skip"}),
            }
        )
    if track.title == UTILISATION:
        drawn += _slowed(samples, above + track.height * 0.04, theme)
    return drawn


def _hover(track: Track, curve: Curve, samples: Samples) -> dict[str, Any]:
    name = f"{curve.source.label} {track.title}"
    if curve.source.is_card and curve.source.index is not None and curve.source.devices:
        name += f" (nvidia-smi's {curve.source.index})"
    return {
        "hovertext": [
            "" if value is None else f"<b>{plain(name)}</b><br>{track.told(value)} at {units.duration(t)}"
            for t, value in zip(samples.t_s, drawn_values(curve), strict=True)
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _slowed(samples: Samples, y: float, theme: Theme) -> list[dict[str, Any]]:
    """A line in the strong colour along the top while a fault or heat slowed a card down."""
    harmed = [
        any(harmful(words[index]) for _, words in samples.throttled) for index in range(len(samples.t_s))
    ]
    if not any(harmed):
        return []
    # Above its right end: above its left one stands how often is sampled, below it are the curves.
    last = max(at for at, harm in enumerate(harmed) if harm)
    return [
        {
            "type": "scatter",
            "mode": "lines+markers+text",
            "name": "slowed down",
            "x": list(samples.t_s),
            "y": [y if harm else None for harm in harmed],
            "text": ["slowed down" if at == last else "" for at in range(len(harmed))],
            "textposition": "top left",
            "textfont": {"color": theme.alert, "size": 11},
            "connectgaps": False,
            "line": {"color": theme.alert, "width": 3},
            "marker": {"color": theme.alert, "size": 4, "symbol": "square"},
            "hoverinfo": "skip",
        }
    ]


def _marks(values: Sequence[float | None]) -> float | list[float]:
    """Sizes of the points: all are seen where there are few, else those that no line reaches."""
    if sum(value is not None for value in values) <= _FEW:
        return _MARK_PX
    around = [None, *values, None]
    return [
        _MARK_PX if value is not None and before is None and after is None else 0
        for before, value, after in zip(around, values, around[2:], strict=False)
    ]


def _filled(t_s: Sequence[float], heights: Sequence[float | None], zero: float, color: str) -> dict[str, Any]:
    """The area under a line, a shape of its own for each stretch without a gap."""
    points: list[tuple[float | None, float | None]] = []
    for is_there, group in itertools.groupby(
        zip(t_s, heights, strict=True), lambda pair: pair[1] is not None
    ):
        stretch = list(group)
        if is_there and len(stretch) > 1:
            points += [(stretch[0][0], zero), *stretch, (stretch[-1][0], zero), (None, None)]
    return {
        "type": "scatter",
        "mode": "none",
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "fill": "toself",
        "fillcolor": with_alpha(color, 0.16),
        "hoverinfo": "skip",
    }


def _top(curves: Sequence[Curve]) -> float:
    return (
        max((value for curve in curves for value in drawn_values(curve) if value is not None), default=0.0)
        or 1.0
    )


def _share(value: float, top: float) -> float:
    return min(1.0, max(0.0, value / top))
