"""Loss and speed of a program, one under the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from app.views import units
from app.views.colors import LIVE, Theme
from app.views.figures import Figure, axis, base_layout, empty_figure, muted
from app.views.progress_data import Progress

NOTHING = "The program has not reported a step yet."

_TICKS = 8
_FEW = 30
"""Up to so many values each is marked."""


def progress_figure(progress: Progress, theme: Theme = LIVE, *, height: int = 300) -> Figure:
    """Loss above, steps a second below, over the step number; what was never reported is left out."""
    panels = [
        panel
        for panel in (("loss", progress.loss, ""), ("speed", progress.rate, " steps/s"))
        if any(value is not None for value in panel[1])
    ]
    if not panels:
        return empty_figure(NOTHING, theme, height)
    share = 1 / len(panels)
    layout = base_layout(
        theme,
        height,
        margin={"l": 64, "r": 16, "t": 8, "b": 44},
        hovermode="x unified",
        xaxis=axis(
            theme,
            title={"text": muted(_steps_title(progress), theme)},
            **({"range": [0, progress.total]} if progress.total else {}),
            anchor="y" if len(panels) == 1 else "y2",
            showgrid=False,
            nticks=_TICKS,
            # There are no half steps.
            **({"dtick": 1} if max(progress.total or 0, *progress.steps) <= _TICKS else {}),
        ),
    )
    data = []
    for index, (name, values, unit) in enumerate(panels):
        ref = "y" if index == 0 else f"y{index + 1}"
        top = 1 - index * share
        layout[f"yaxis{'' if index == 0 else index + 1}"] = axis(
            theme,
            domain=[max(0.0, top - share + (0.08 if index < len(panels) - 1 else 0)), top],
            ticksuffix=unit,
            nticks=4,
            fixedrange=True,
            rangemode="tozero" if name == "speed" else "normal",
            title={"text": muted(name, theme)},
        )
        data.append(_curve(name, progress.steps, values, ref, theme))
    return {"data": data, "layout": layout}


def _curve(
    name: str, steps: Sequence[int], values: Sequence[float | None], ref: str, theme: Theme
) -> dict[str, Any]:
    texts = [
        units.rate(value) if name == "speed" else f"loss {value:.4g}" if value is not None else ""
        for value in values
    ]
    return {
        "type": "scatter",
        "mode": "lines" if len(steps) > _FEW else "lines+markers",
        "name": name,
        "x": list(steps),
        "y": [value if value is not None and math.isfinite(value) else None for value in values],
        "text": texts,
        "yaxis": ref,
        "connectgaps": False,
        "line": {"color": theme.text if name == "loss" else theme.muted, "width": 2},
        "hovertemplate": "%{text}<extra></extra>",
    }


def _steps_title(progress: Progress) -> str:
    return f"step of {units.count(progress.total)}" if progress.total else "step"
