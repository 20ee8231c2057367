"""What all Plotly figures of the project share: a quiet layout, and text that stays text.

Figures are plain dicts, ``{"data": [..], "layout": {..}}``, as Plotly's JSON schema names them.
"""

from __future__ import annotations

from typing import Any

from app.views.colors import Theme

Figure = dict[str, Any]


def plain(text: object) -> str:
    """Text that Plotly shows as it is: it would read ``<b>`` and ``&lt;`` in labels as markup."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def swatch(color: str) -> str:
    """A small square in a device's hue, for tick labels."""
    return f'<span style="color:{color};font-size:15px">■</span>'


def muted(text: str, theme: Theme) -> str:
    """A remark in smaller grey letters; `text` is made safe here."""
    return f'<span style="color:{theme.muted};font-size:11px">{plain(text)}</span>'


def base_layout(theme: Theme, height: int, **more: Any) -> dict[str, Any]:
    """The layout that every figure starts from."""
    return {
        "height": height,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": theme.text, "size": 12},
        "margin": {"l": 60, "r": 16, "t": 24, "b": 36},
        "hoverlabel": {
            "bgcolor": theme.background,
            "bordercolor": theme.grid,
            "font": {"color": theme.text, "size": 12},
            "align": "left",
            "namelength": -1,
        },
        "showlegend": False,
        "dragmode": "zoom",
        "uirevision": "keep",
        **more,
    }


def axis(theme: Theme, **more: Any) -> dict[str, Any]:
    """An axis with faint lines and no zero line."""
    return {
        "gridcolor": theme.grid,
        "linecolor": theme.grid,
        "zeroline": False,
        "tickfont": {"color": theme.text, "size": 12},
        "automargin": True,
        "ticks": "",
        **more,
    }


def remark(text: str, theme: Theme, **more: Any) -> dict[str, Any]:
    """A line of grey text over the figure; `text` is made safe here."""
    return {
        "text": plain(text),
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "font": {"color": theme.muted, "size": 12},
        **more,
    }


def empty_figure(text: str, theme: Theme, height: int = 160) -> Figure:
    """Says why there is nothing to see."""
    hidden = {"visible": False, "fixedrange": True}
    return {
        "data": [],
        "layout": base_layout(
            theme, height, xaxis=hidden, yaxis=hidden, annotations=[remark(text, theme, x=0.5, y=0.5)]
        ),
    }
