"""The figures as Plotly's JSON: what they say, and that nothing in a name becomes markup."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.views.colors import LIGHT
from app.views.figures import plain
from app.views.matrix import FOUR_LINES_PX, matrix_figure
from app.views.matrix_data import Cell, CollectiveShare, Matrix
from app.views.memory import memory_figure
from app.views.memory_data import MemorySeries
from app.views.progress import progress_figure
from app.views.progress_data import Progress
from app.views.samples_data import Samples
from app.views.timeline import overview_figure
from app.views.timeline_data import Bar, Binned, Lane, Overview, Phase, Window
from app.views.timeline_window import BARS_SHOWN, window_figure, within
from app.views.units import TIMES

MATRIX = Matrix(
    ("cpu:1", "cpu:2", "cpu:0"),
    (
        Cell("cpu:1", "cpu:2", 6_553_600, 100, (1, 2), "info", 6_553_600, "estimated"),
        Cell("cpu:0", "cpu:1", None, None, (0,), "warning", 0, "unknown"),
    ),
    frozenset({"cpu:1", "cpu:2"}),
)


def trace(figure: dict[str, Any], kind: str, index: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = [one for one in figure["data"] if one["type"] == kind][index]
    return found


def as_json(figure: dict[str, Any]) -> str:
    """What is sent; fails on NaN, which no browser reads."""
    return json.dumps(figure, allow_nan=False)


def test_matrix_cells_heads_and_colours() -> None:
    figure = matrix_figure(MATRIX, theme=LIGHT)
    ground, sizes = trace(figure, "heatmap"), trace(figure, "heatmap", 1)
    assert ground["z"] == [[None, 0, 0], [0, None, 0], [0, 0, None]]
    assert sizes["z"] == [[None, 4, None], [None, None, None], [0, None, None]]
    assert sizes["customdata"][0][1] == ["cpu:1", "cpu:2"]
    texts = trace(figure, "scatter")
    basis = ' <span style="font-size:10.5px">estimated</span>'
    assert list(zip(texts["x"], texts["y"], texts["text"], texts["customdata"], strict=True)) == [
        (1, 0, f"6.25 MiB<br>100{TIMES}{basis}", ["cpu:1", "cpu:2"]),
        (0, 2, "?", ["cpu:0", "cpu:1"]),
    ]
    assert texts["textfont"]["color"] == [LIGHT.bright, LIGHT.text]
    alerts = trace(figure, "scatter", 1)
    assert alerts["customdata"] == [["cpu:0", "cpu:1"]]
    heads = figure["layout"]["xaxis"]["ticktext"]
    assert [LIGHT.hues[0] in heads[0], "stand-in" in heads[0], "host" in heads[2]] == [True, True, True]
    assert ground["hovertext"][0][1] == (
        f"<b>cpu:1 → cpu:2</b><br>6.25 MiB · 100{TIMES} (estimated)<br>2 rows of the hop table"
    )
    assert ground["hovertext"][1][0] == "<b>cpu:2 → cpu:1</b><br>nothing crossed"
    as_json(figure)


def test_matrix_outlines_the_selected_cell() -> None:
    (shape,) = matrix_figure(MATRIX, ("cpu:0", "cpu:1"), LIGHT)["layout"]["shapes"]
    assert (shape["x0"], shape["x1"], shape["y0"], shape["y1"]) == (-0.5, 0.5, 1.5, 2.5)
    assert matrix_figure(MATRIX, ("cpu:0", "gpu:7"), LIGHT)["layout"]["shapes"] == []


def test_matrix_keeps_a_cell_on_the_diagonal_and_says_when_there_is_none() -> None:
    within = Matrix(("gpu:0", "cpu:0"), (Cell("gpu:0", "gpu:0", 8, 2),))
    assert trace(matrix_figure(within, theme=LIGHT), "heatmap")["z"] == [[0, 0], [0, None]]
    single = matrix_figure(Matrix(("cpu:0",), ()), theme=LIGHT)
    assert (single["data"], single["layout"]["annotations"][0]["text"]) == (
        [],
        "One device only: nothing can cross.",
    )


CALLS = Lane("call||train_step", "train_step", "call")
OPS = Lane("op|cpu:1", "cpu:1", "op", "cpu:1")
OTHER_OPS = Lane("op|cpu:0", "cpu:0", "op", "cpu:0")


def test_overview_scales_lanes_of_a_kind_together() -> None:
    lanes = (
        Binned(OPS, (0.0, 10.0), "ops"),
        Binned(OTHER_OPS, (5.0, 0.0), "ops"),
        Binned(CALLS, (0.5, 1.0), "busy"),
    )
    figure = overview_figure(Overview(0.0, 4.0, lanes, (Phase("start", 0, 2),)), (1.0, 2.0), LIGHT)
    curves = [one for one in figure["data"] if one.get("fill") == "tonexty"]
    assert [curve["name"] for curve in curves] == ["train_step", "cpu:1 eager ops", "cpu:0 eager ops"]
    assert [curve["y"] for curve in curves] == [[0.52, 0.12, 0.12], [1.92, 1.12, 1.12], [2.52, 2.92, 2.92]]
    assert curves[0]["x"] == [0.0, 2.0, 4.0]
    told = next(one for one in figure["data"] if one.get("mode") == "markers")
    assert told["hovertext"] == [
        "<b>0 s</b>, 2 s long<br>train_step: 50 % busy<br>cpu:0 eager ops: 5 ops",
        "<b>2 s</b>, 2 s long<br>train_step: 100 % busy<br>cpu:1 eager ops: 10 ops",
    ]
    scales = [note["text"] for note in figure["layout"]["annotations"][1:]]
    assert scales == ["100 % busy", "10 ops", "10 ops"]
    assert [curve["line"]["color"] for curve in curves] == [LIGHT.quiet, LIGHT.hues[0], LIGHT.host]
    layout = figure["layout"]
    assert layout["xaxis"]["ticksuffix"] == " s"
    assert [(shape["x0"], shape["x1"]) for shape in layout["shapes"]] == [(0, 2), (1.0, 2.0)]
    assert layout["annotations"][0]["text"] == "start"
    as_json(figure)


def test_rows_of_devices_are_in_the_devices_order() -> None:
    """GIVEN lanes in the order in which they were first met THEN a kind's are by process, hosts last."""
    names = ["worker:1/cpu:1", "worker:0/cpu:0", "worker:0/cpu:1"]
    lanes = [Lane(f"op|{name}", name, "op", name) for name in names]
    lanes += [Lane(f"hop|{name}", f"ps:0/cpu:0 → {name}", "hop", name) for name in names]
    drawn = tuple(Binned(lane, (1.0,), "ops") for lane in [*lanes[3:], *lanes[:3]])
    ticks = overview_figure(Overview(0, 1, drawn), theme=LIGHT)["layout"]["yaxis"]["ticktext"]
    order = ["worker:0/cpu:1", "worker:1/cpu:1", "worker:0/cpu:0"]
    assert [next(name for name in order if name in tick.rpartition("→")[2]) for tick in ticks] == 2 * order


def test_overview_without_lanes_says_so() -> None:
    figure = overview_figure(Overview(0, 1, ()), theme=LIGHT)
    assert figure["layout"]["annotations"][0]["text"] == "Nothing was recorded in this stretch."


def test_window_draws_bars_ticks_and_overlaps() -> None:
    bars = (
        Bar(CALLS.id, 1.0, 0.5, "train_step", None, "train.py:5", 1, 12, None, "measured", 7),
        Bar(CALLS.id, 1.2, 0.1, "inner", None, None, 1, None, None, "measured", 8),
        Bar(OPS.id, 1.1, 0.0, "Add", "cpu:1", "train.py:9", 40, None, 16, "estimated", 9),
    )
    figure = window_figure(Window(1.0, 2.0, (OPS, CALLS), bars, 3), LIGHT)
    calls, ops = trace(figure, "bar"), trace(figure, "bar", 1)
    assert (calls["base"], calls["x"], calls["y"]) == ([1.0, 1.2], [0.5, 0.1], [0.29, 0.71])
    assert calls["text"] == ["train_step", "inner"]
    assert calls["customdata"] == [[7, CALLS.id], [8, CALLS.id]]
    assert calls["hovertext"][0] == (
        "<b>train_step</b><br>train_step, at 1 s<br>500 ms (measured)<br>step 12<br>train.py:5"
    )
    # 40 executions, counted together at 1.1 s: they were in the 250 ms before, of which 100 ms are shown.
    assert (ops["base"], ops["x"], ops["y"]) == ([1.0], [0.1], [1.5])
    assert ops["customdata"] == [[9, OPS.id]]
    assert ops["hovertext"] == [
        "<b>Add</b><br>cpu:1 eager ops, at 1.1 s<br>40 times in the 250 ms before, counted together<br>"
        "16 B<br>train.py:9"
    ]
    assert "annotations" not in figure["layout"]
    as_json(figure)


def test_a_window_keeps_counts_that_are_written_down_behind_it() -> None:
    single, counted = Bar(OPS.id, 2.1, 0.0, "one"), Bar(OPS.id, 2.1, 0.0, "many", count=9)
    far = Bar(CALLS.id, 2.3, 0.0, "far", count=9)
    part = within(Window(1.0, 2.25, (OPS, CALLS), (single, counted, far), 3), 1.0, 2.0)
    assert (part.bars, part.lanes, part.total, part.t1_s) == ((counted,), (OPS,), 1, 2.0)
    assert within(Window(1.0, 2.25, (OPS,), (single,), 50), 1.0, 2.0).total == 50


def test_lanes_that_tell_little_are_thin() -> None:
    waits = Lane("sync|cpu:1", "cpu:1", "sync", "cpu:1")
    lanes = (Binned(waits, (0.001, 0.0), "busy"), Binned(CALLS, (0.5, 1.0), "busy"))
    axis = overview_figure(Overview(0.0, 4.0, lanes), theme=LIGHT)["layout"]["yaxis"]
    assert (axis["range"], axis["tickvals"]) == ([1.6, 0], [0.5, 1.3])


def test_bars_are_cut_at_the_ends_of_the_window() -> None:
    """Their labels would stand outside of it; what is told of them stays whole."""
    bars = (Bar(CALLS.id, 0.5, 3.0, "train_step"),)
    calls = trace(window_figure(Window(1.0, 2.0, (CALLS,), bars, 1), LIGHT), "bar")
    assert (calls["base"], calls["x"]) == ([1.0], [1.0])
    assert "3 s (measured)" in calls["hovertext"][0]


def test_window_keeps_the_longest_bars_and_says_so() -> None:
    bars = tuple(Bar(CALLS.id, index * 1e-3, 1e-6 * index, "f") for index in range(1, BARS_SHOWN + 501))
    figure = window_figure(Window(0.0, 3.0, (CALLS,), bars, 9000), LIGHT)
    assert len(trace(figure, "bar")["x"]) == BARS_SHOWN
    assert min(trace(figure, "bar")["x"]) == pytest.approx(501e-6)
    assert figure["layout"]["annotations"][0]["text"] == (
        "The longest 2,000 of 9,000 events; choose a shorter window for the rest"
    )


def test_memory_tells_its_basis() -> None:
    series = [
        MemorySeries("cpu:1", "in_use", "estimated", "sizes of live tensors", (0.0, 1.0), (2**20, 3 * 2**20)),
        MemorySeries("cpu:0", "peak", "measured", "", (0.0,), (2**20,)),
        MemorySeries("cpu:2", "in_use", "unsupported", "the allocator keeps no statistics", (), ()),
    ]
    figure = memory_figure(series, LIGHT)
    first, second, key = figure["data"]
    assert [one["showlegend"] for one in (first, second)] == [True, False]
    assert (key["name"], key["line"]["dash"], key["x"]) == ("peak", "dot", [None])
    assert (first["name"], first["y"], first["line"]["dash"]) == ("cpu:1 (estimated)", [1.0, 3.0], "dash")
    assert first["text"][1] == "3 MiB (estimated: sizes of live tensors)"
    assert (second["name"], second["line"]["dash"]) == ("cpu:0 peak (measured)", "dot")
    assert figure["layout"]["yaxis"]["ticksuffix"] == " MiB"
    assert figure["layout"]["annotations"][0]["text"] == (
        "cpu:2: unsupported, the allocator keeps no statistics"
    )
    as_json(figure)


def test_hosts_of_several_processes_are_told_apart() -> None:
    """GIVEN four hosts, of one hue, and devices that tell nothing for one reason THEN marks and one line."""
    hosts = ("chief:0/cpu:0", "ps:0/cpu:0", "ps:1/cpu:0", "worker:0/cpu:0")
    drawn = [MemorySeries(host, "in_use", "estimated", "", (0.0,), (2**20,)) for host in hosts]
    drawn += [MemorySeries("worker:0/cpu:1", "in_use", "estimated", "", (0.0,), (2**20,))]
    silent = [
        MemorySeries(device, "in_use", "unsupported", "nothing was there", (0.0,), (0,))
        for device in ("worker:1/cpu:1", "worker:1/cpu:2", "worker:0/cpu:0")
    ]
    figure = memory_figure([*drawn, *silent], LIGHT)
    lines = {one["name"].partition(" ")[0]: one for one in figure["data"]}
    assert len({lines[host]["marker"]["symbol"] for host in hosts}) == 4
    assert lines["worker:0/cpu:1"]["mode"] == "lines"
    assert [note["text"] for note in figure["layout"]["annotations"]] == [
        "worker:1/cpu:1, worker:1/cpu:2: unsupported, nothing was there"
    ]
    (alone,) = memory_figure(drawn[:1], LIGHT)["data"]
    assert alone["mode"] == "lines"


def test_memory_that_no_device_tells() -> None:
    silent = MemorySeries("cpu:2", "in_use", "unsupported", "no statistics", (), ())
    assert memory_figure([silent], LIGHT)["layout"]["annotations"][0]["text"] == (
        "cpu:2: unsupported, no statistics"
    )
    assert memory_figure([], LIGHT)["layout"]["annotations"][0]["text"] == (
        "No device has reported its memory yet."
    )


def test_progress_draws_what_was_reported() -> None:
    progress = Progress((0, 10, 20), (2.5, float("nan"), 1.25), (None, 30.0, 31.24), 100)
    figure = progress_figure(progress, LIGHT)
    loss, speed = figure["data"]
    assert (loss["y"], loss["yaxis"], loss["text"][2]) == ([2.5, None, 1.25], "y", "loss 1.25")
    assert (speed["y"], speed["yaxis"], speed["text"][2]) == ([None, 30.0, 31.24], "y2", "31.2 steps/s")
    assert figure["layout"]["xaxis"]["range"] == [0, 100]
    as_json(figure)
    assert loss["mode"] == "lines+markers" and "dtick" not in figure["layout"]["xaxis"]
    # Of a few steps each has its tick, and there are no half ones.
    assert progress_figure(Progress((1, 3), (2.0, 1.0), (), 3), LIGHT)["layout"]["xaxis"]["dtick"] == 1
    only_loss = progress_figure(Progress((0,), (1.0,), (None,)), LIGHT)
    assert [one["name"] for one in only_loss["data"]] == ["loss"]
    assert progress_figure(Progress((), (), ()), LIGHT)["layout"]["annotations"][0]["text"] == (
        "The program has not reported a step yet."
    )


def test_names_never_become_markup() -> None:
    bad = '<a href="javascript:alert(1)">&lt;b&gt;'
    assert plain(bad) == '&lt;a href="javascript:alert(1)"&gt;&amp;lt;b&amp;gt;'
    lane = Lane("x", bad, "call")
    bar = Bar("x", 0.0, 1.0, bad, None, bad)
    figures = [
        matrix_figure(Matrix((bad, "cpu:0"), (Cell(bad, "cpu:0", 1, 1),)), theme=LIGHT),
        overview_figure(Overview(0, 1, (Binned(lane, (1.0,), "busy"),), (Phase(bad, 0, 1),)), theme=LIGHT),
        window_figure(Window(0, 1, (lane,), (bar,), 1), LIGHT),
        memory_figure([MemorySeries(bad, "in_use", "estimated", bad, (0.0,), (1,))], LIGHT),
    ]
    for figure in figures:
        for one in figure["data"]:
            one.pop("customdata", None)  # raw on purpose: it goes back to Python and is never shown
        assert "<a href" not in as_json(figure)


def test_matrix_tells_collectives_apart_from_hops() -> None:
    share = CollectiveShare("all-reduce", "ring", 6_800_160, 20)
    both = Cell("cpu:1", "cpu:2", 1024, 3, (0,), "info", 1024, "estimated", (share,))
    alone = Cell("cpu:2", "cpu:1", 0, 0, collectives=(share,))
    figure = matrix_figure(Matrix(("cpu:1", "cpu:2"), (both, alone)), theme=LIGHT)
    added = "+ 6.49 MiB<br>all-reduce, estimated"
    basis = ' <span style="font-size:10.5px">estimated</span>'
    assert trace(figure, "scatter")["text"] == [f"1 KiB<br>3{TIMES}{basis}<br>{added}", added]
    assert trace(figure, "heatmap", 1)["z"] == [[None, 4], [None, None]]
    assert [shape["line"]["dash"] for shape in figure["layout"]["shapes"]] == ["4px,3px", "4px,3px"]
    # Four lines have room in a cell, also of six devices.
    six = matrix_figure(Matrix(tuple(f"cpu:{n}" for n in range(1, 7)), (both, alone)), theme=LIGHT)
    assert six["layout"]["height"] >= 6 * FOUR_LINES_PX
    assert trace(figure, "heatmap")["hovertext"][1][0] == (
        f"<b>cpu:2 → cpu:1</b><br>+ 6.49 MiB · 20{TIMES} (all-reduce, ring, estimated), not among the hops"
    )


def test_samples_that_go_on_for_ever_are_pointed_at_in_few_places() -> None:
    """A trace of a millisecond with samples of years had a point for each of its bins' widths."""
    lane = Lane("call||f", "f", "call", None)
    samples = Samples((0.0, 1e9), (), 1.0)
    figure = overview_figure(Overview(0.0, 0.001, (Binned(lane, (1.0, 0.5), "busy"),)), samples=samples)
    pointed = next(one for one in figure["data"] if one.get("mode") == "markers")
    assert len(pointed["x"]) == 2 + 240
    assert pointed["x"][0] == pytest.approx(0.00025, abs=1e-5)
    assert pointed["x"][-1] == pytest.approx(1e9, rel=0.01)
    as_json(figure)
