"""The device x device matrix: rows send, columns receive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from app.views import units
from app.views.colors import LIVE, Theme, device_colors, is_alert, is_host
from app.views.figures import Figure, axis, base_layout, empty_figure, muted, plain, swatch
from app.views.matrix_data import Cell, CollectiveShare, Matrix

HEAD_PX = 58
LINE_PX = 16
HEADS_PX = 130
WIDEST_CELL_PX = 170
TALLEST_CELL_PX = 64
SHORTEST_CELL_PX = 40
FOUR_LINES_PX = 78
WIDE_CELLS = 3
"""As many devices leave room for whole words in a cell; with twice as many there is room for figures only."""


Pair = tuple[str, str]


def matrix_figure(
    matrix: Matrix,
    selected: Pair | None = None,
    theme: Theme = LIVE,
    *,
    devices: Sequence[str] = (),
    alone: str = "One device only: nothing can cross.",
) -> Figure:
    """Bytes and count of each pair of devices, coloured by the logarithm of the bytes.

    A click hands back ``[source, destination]`` as its customdata. `selected` is such a pair; `devices` are
    all of the run's, so that hues agree with the other views. `alone` is said where there are no two.
    """
    order = matrix.devices
    if len(order) < 2 and not matrix.cells:
        return empty_figure(alone, theme)
    cells = {(cell.src, cell.dst): cell for cell in matrix.cells}
    number = len(order)
    tallest = FOUR_LINES_PX if any(cell.collectives for cell in matrix.cells) else TALLEST_CELL_PX
    cell_px = max(SHORTEST_CELL_PX, min(tallest, 420 // max(1, number)))
    if number <= 2 * WIDE_CELLS and any(cell.hops and cell.collectives for cell in matrix.cells):
        cell_px = FOUR_LINES_PX  # within the dashed frame too
    hues = device_colors([*devices, *order], theme)
    positions = list(range(number))
    data = [_ground(order, cells, positions, theme)]
    if cells:
        steps = _steps(cells, len(theme.ramp))
        data.append(_sizes(order, steps, positions, theme))
        data.append(_texts(order, cells, steps, theme))
        alerts = _alerts(order, cells, theme)
        if alerts["x"]:
            data.append(alerts)
    span = [-0.5, number - 0.5]
    heads = [_head(device, hues[device], device in matrix.stand_ins, theme) for device in order]
    tops = [_head(device, hues[device], device in matrix.stand_ins, theme, "/<br>") for device in order]
    head_px = HEAD_PX + (LINE_PX if any("/" in device for device in order) else 0)
    return {
        "data": data,
        "layout": base_layout(
            theme,
            head_px + number * cell_px + 12,
            margin={"l": HEADS_PX, "r": 12, "t": head_px, "b": 12},
            dragmode=False,
            meta={"max_width": HEADS_PX + number * WIDEST_CELL_PX},
            xaxis=axis(
                theme,
                side="top",
                range=span,
                tickvals=positions,
                ticktext=tops,
                showgrid=False,
                showline=False,
                fixedrange=True,
                title={"text": muted("to", theme), "standoff": 4},
            ),
            yaxis=axis(
                theme,
                range=span[::-1],
                tickvals=positions,
                ticktext=heads,
                showgrid=False,
                showline=False,
                fixedrange=True,
                title={"text": muted("from", theme), "standoff": 8},
            ),
            shapes=[*_dashes(order, cells, theme), *_outline(order, selected, theme)],
        ),
    }


def cell_text(cell: Cell, devices: int = 2) -> str:
    """What stands in a cell of a matrix of so many devices: hops on two lines, then the largest collective.

    All collectives are under the pointer, and so is the basis where there is no room for it.

    ``?`` where neither bytes nor count of the hops are known.
    """
    lines = []
    if cell.hops or not cell.collectives:
        total, _, number = units.transfer(cell.bytes, cell.count, cell.bytes_known).partition(" · ")
        lines = [total, number] if number else [total]
        if devices <= WIDE_CELLS and number:
            lines[1] += f' <span style="font-size:10.5px">{plain(cell.basis)}</span>'
    if cell.collectives:
        share = max(cell.collectives, key=lambda one: one.bytes or 0)
        others = len(cell.collectives) - 1
        size = f"+ {units.size(share.bytes)}"
        more = f" + {others} more" if others else ""
        if devices <= WIDE_CELLS:
            lines += [size + more, f"{plain(share.name)}, {plain(share.basis)}"]
        elif devices <= 2 * WIDE_CELLS:
            # As wide as such a cell takes.
            lines += [size, plain(share.name) + (f", + {others}" if others else "")]
        else:
            lines.append(size)
    return "<br>".join(lines)


def _head(device: str, hue: str, stand_in: bool, theme: Theme, between: str = "/") -> str:
    """A row's or column's name; `between` stands between process and device."""
    remark = "host" if is_host(device) else "stand-in" if stand_in else ""
    name = plain(device).replace("/", between)
    return f"{swatch(hue)} {name}" + (f"<br>{muted(remark, theme)}" if remark else "")


def _ground(
    order: Sequence[str], cells: dict[Pair, Cell], positions: list[int], theme: Theme
) -> dict[str, Any]:
    """Faint tiles under all cells, which answer the pointer; the diagonal stays empty."""
    return {
        "type": "heatmap",
        "x": positions,
        "y": positions,
        "z": [[None if src == dst and (src, dst) not in cells else 0 for dst in order] for src in order],
        "customdata": [[[src, dst] for dst in order] for src in order],
        "colorscale": [[0, theme.panel], [1, theme.panel]],
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
        "hoverongaps": False,
        "hovertext": [[_hover(src, dst, cells.get((src, dst))) for dst in order] for src in order],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _steps(cells: dict[Pair, Cell], number: int) -> dict[Pair, int]:
    """Which step of the ramp each cell has, by the logarithm of its bytes."""
    sizes = {
        pair: math.log10(max(1, _known(cell)))
        for pair, cell in cells.items()
        if cell.hops or not cell.collectives
    }
    if not sizes:
        return {}
    high = max(sizes.values())
    # Over less than three decades small differences would look large.
    low = min(*sizes.values(), high - 3)
    return {pair: min(number - 1, int((size - low) / (high - low) * number)) for pair, size in sizes.items()}


def _sizes(
    order: Sequence[str], steps: dict[Pair, int], positions: list[int], theme: Theme
) -> dict[str, Any]:
    number = len(theme.ramp)
    scale = [[edge / number, color] for step, color in enumerate(theme.ramp) for edge in (step, step + 1)]
    return {
        "type": "heatmap",
        "x": positions,
        "y": positions,
        "z": [[steps.get((src, dst)) for dst in order] for src in order],
        "zmin": -0.5,
        "zmax": number - 0.5,
        "customdata": [[[src, dst] for dst in order] for src in order],
        "colorscale": scale,
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
        "hoverinfo": "skip",
    }


def _texts(
    order: Sequence[str], cells: dict[Pair, Cell], steps: dict[Pair, int], theme: Theme
) -> dict[str, Any]:
    """Bytes and count in the middle of each cell; they also answer the pointer."""
    place = {device: index for index, device in enumerate(order)}
    return {
        "type": "scatter",
        "mode": "text",
        "x": [place[dst] for _, dst in cells],
        "y": [place[src] for src, _ in cells],
        "text": [cell_text(cell, len(order)) for cell in cells.values()],
        "textfont": {
            "size": 12 if len(order) <= 6 else 11,
            "color": [theme.bright if steps.get(pair, 0) >= 3 else theme.text for pair in cells],
        },
        "customdata": [list(pair) for pair in cells],
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def _hover(src: str, dst: str, cell: Cell | None) -> str:
    rows = [f"<b>{plain(src)} → {plain(dst)}</b>"]
    if cell is None:
        return "<br>".join([*rows, "nothing crossed"])
    if cell.hops or not cell.collectives:
        size = units.transfer(cell.bytes, cell.count, cell.bytes_known)
        rows.append(f"{size} ({plain(cell.basis)})")
        if cell.seconds is not None:
            rows.append(f"about {units.estimated(cell.seconds)} of copying (estimated)")
    rows += [_share_text(share) for share in cell.collectives]
    if cell.hops:
        rows.append(f"{units.plural(len(cell.hops), 'row')} of the hop table")
    if is_alert(cell.severity):
        rows.append(plain(cell.severity))
    return "<br>".join(rows)


def _share_text(share: CollectiveShare) -> str:
    figures = units.transfer(share.bytes, share.count)
    name = f"{plain(share.name)}, {plain(share.algorithm)}"
    return f"+ {figures} ({name}, {plain(share.basis)}), not among the hops"


def _dashes(order: Sequence[str], cells: dict[Pair, Cell], theme: Theme) -> list[dict[str, Any]]:
    """A dashed frame in the cells that collectives cross, as their arrows are dashed in the diagram."""
    return [
        {
            "type": "rect",
            **_square(order.index(dst), order.index(src), 0.43),
            "line": {"color": theme.quiet, "width": 1.5, "dash": "4px,3px"},
            "layer": "above",
        }
        for (src, dst), cell in cells.items()
        if cell.collectives
    ]


def _square(x: int, y: int, half: float) -> dict[str, float]:
    return {"x0": x - half, "x1": x + half, "y0": y - half, "y1": y + half}


def _alerts(order: Sequence[str], cells: dict[Pair, Cell], theme: Theme) -> dict[str, Any]:
    """A dot in the corner of the cells that hold a warning or an error."""
    marked = [pair for pair, cell in cells.items() if is_alert(cell.severity)]
    place = {device: index for index, device in enumerate(order)}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [place[dst] + 0.41 for _, dst in marked],
        "y": [place[src] - 0.3 for src, _ in marked],
        "customdata": [list(pair) for pair in marked],
        "marker": {"color": theme.alert, "size": 9, "line": {"color": theme.background, "width": 1.5}},
        "hoverinfo": "skip",
    }


def _outline(order: Sequence[str], selected: Pair | None, theme: Theme) -> list[dict[str, Any]]:
    if selected is None or not set(selected) <= set(order):
        return []
    y, x = order.index(selected[0]), order.index(selected[1])
    return [
        {
            "type": "rect",
            **_square(x, y, 0.5),
            "line": {"color": theme.text, "width": 2.5},
            "layer": "above",
        }
    ]


def _known(cell: Cell) -> int:
    return cell.bytes if cell.bytes is not None else cell.bytes_known
