"""Memory of each device over time, with what the numbers rest on."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from app.views import units
from app.views.colors import LIVE, Theme, device_colors, is_host, with_alpha
from app.views.figures import Figure, axis, base_layout, empty_figure, muted, plain, remark
from app.views.memory_data import MemorySeries

NOTHING = "No device has reported its memory yet."

_DASHES = {"measured": "solid", "estimated": "dash"}
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "triangle-down", "x")
"""Tell the hosts of several processes apart, which have one hue."""
_MARKS = 12
"""At most so many a line."""
_LINE_CHARS, _LINE_PX = 200, 18


def memory_figure(
    series: Sequence[MemorySeries], theme: Theme = LIVE, *, devices: Sequence[str] = (), height: int = 280
) -> Figure:
    """A line a device in its hue: solid where measured, dashed where estimated; peaks are dotted.

    The hosts of several processes are told apart by marks. Devices that can't tell are named with the
    reason under the figure.
    """
    drawn = [one for one in series if one.basis != "unsupported" and one.t_s]
    reasons = _reasons(series, {one.device for one in drawn})
    if not drawn:
        return empty_figure(" ".join(reasons) or NOTHING, theme)
    unit = units.size_unit(max(max(one.bytes) for one in drawn))
    hues = device_colors([*devices, *(one.device for one in series)], theme)
    annotations = [
        remark(line, theme, x=0, y=0, yshift=-58 - _LINE_PX * index, xanchor="left", yanchor="top")
        for index, line in enumerate(reasons)
    ]
    hosts = list(dict.fromkeys(one.device for one in drawn if is_host(one.device)))
    symbols = dict(zip(hosts, _SYMBOLS, strict=False)) if len(hosts) > 1 else {}
    data = [_line(one, hues[one.device], unit, symbols.get(one.device, "")) for one in drawn]
    if any(one.what == "peak" for one in drawn):
        data.append(_peak_key(theme))
    return {
        "data": data,
        "layout": base_layout(
            theme,
            height,
            margin={"l": 64, "r": 16, "t": 40, "b": 60 + _LINE_PX * len(reasons) if reasons else 44},
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}},
            hovermode="x unified",
            xaxis=axis(
                theme, ticksuffix=" s", title={"text": muted("since start", theme)}, rangemode="tozero"
            ),
            yaxis=axis(theme, ticksuffix=f" {unit}", rangemode="tozero", nticks=6, fixedrange=True),
            annotations=annotations,
        ),
    }


def _reasons(series: Sequence[MemorySeries], told: set[str]) -> list[str]:
    """Why devices that are not drawn tell nothing, those with one reason together; in lines that fit."""
    silent: dict[str, dict[str, None]] = {}
    for one in series:
        if one.basis == "unsupported" and one.device not in told:
            silent.setdefault(one.why, {})[one.device] = None
    return [
        line
        for why, devices in silent.items()
        for line in textwrap.wrap(f"{', '.join(devices)}: unsupported, {why}", _LINE_CHARS)
    ]


def _line(one: MemorySeries, hue: str, unit: str, symbol: str) -> dict[str, Any]:
    factor = units.size_factor(unit)
    peak = one.what == "peak"
    basis = plain(f"({one.basis}: {one.why})" if one.why else f"({one.basis})")
    return {
        "type": "scatter",
        "mode": "lines+markers" if symbol and not peak else "lines",
        **({"marker": {"symbol": symbol, "size": 8, "maxdisplayed": _MARKS}} if symbol and not peak else {}),
        "name": plain(f"{one.device} {'peak ' if peak else ''}({one.basis})"),
        "x": list(one.t_s),
        "y": [round(value / factor, 4) for value in one.bytes],
        "text": [f"{units.size(value)} {basis}" for value in one.bytes],
        "line": {
            "color": hue,
            "width": 1.2 if peak else 2,
            "shape": "hv",
            "dash": "dot" if peak else _DASHES.get(one.basis, "dash"),
        },
        "showlegend": not peak,
        "fill": "none" if peak else "tozeroy",
        "fillcolor": with_alpha(hue, 0.08),
        "hovertemplate": "%{text}<extra>%{fullData.name}</extra>",
    }


def _peak_key(theme: Theme) -> dict[str, Any]:
    """One entry of the legend for the dotted lines of all devices."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "peak",
        "x": [None],
        "y": [None],
        "line": {"color": theme.muted, "width": 1.2, "dash": "dot"},
        "hoverinfo": "skip",
    }
