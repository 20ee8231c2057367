"""Tracks of samples under the timeline: gaps stay gaps, each device has its hue, all with its unit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.views.colors import LIGHT
from app.views.figures import plain
from app.views.sample_words import Moments
from app.views.samples_data import CPU, MEMORY, POWER, RUN_MEMORY, UTILIZATION, Curve, Sampled, Samples
from app.views.timeline import overview_figure
from app.views.timeline_data import Bar, Binned, Lane, Overview, Phase, Window
from app.views.timeline_window import window_figure
from app.views.tracks import Track, label, tracks_of

GIB = 1 << 30
ZERO = Sampled("GPU-a", ("gpu:0",), 2, "Card", 80 * GIB)
ONE = Sampled("GPU-b", ("gpu:1",), 0, "Card", 80 * GIB)
HOST, RUN = Sampled("host", cores=4), Sampled("run")
TIMES = (0.0, 1.0, 2.5, 4.0, 5.0)
EMPTY = Overview(0.0, 1e-9, ())


def curve(source: Sampled, field: str, *values: float | None, highest: tuple[Any, ...] = ()) -> Curve:
    return Curve(source, field, values, highest)


def samples(*curves: Curve, **more: Any) -> Samples:
    return Samples(TIMES, curves, 1.0, **more)


SAMPLES = samples(
    curve(ZERO, UTILIZATION, 0, 100, None, 50, 50),
    curve(ZERO, MEMORY, GIB, 2 * GIB, None, GIB, GIB),
    curve(ZERO, POWER, None, None, None, None, None),
    curve(ONE, UTILIZATION, 25, 25, None, 25, None),
    curve(ONE, MEMORY, GIB, GIB, None, 4 * GIB, None),
    curve(HOST, CPU, 80, 80, None, 80, 80),
    curve(HOST, MEMORY, 9 * GIB, 9 * GIB, None, 9 * GIB, 9 * GIB),
    curve(RUN, CPU, None, 40, None, 40, 40),
    curve(RUN, RUN_MEMORY, GIB, GIB, None, GIB, GIB),
)
LANE = Lane("op|gpu:0", "gpu:0", "op", "gpu:0")
RECORDED = Overview(0.0, 4.0, (Binned(LANE, (1.0, 0.0, 3.0, 0.0), "ops"),))


def as_json(figure: dict[str, Any]) -> str:
    return json.dumps(figure, allow_nan=False)


def line(figure: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [one for one in figure["data"] if one.get("name") == name]
    return dict(found)


def row_of(figure: dict[str, Any], title: str) -> float:
    """The middle of the row with this title."""
    axis = figure["layout"]["yaxis"]
    (middle,) = [
        at for at, text in zip(axis["tickvals"], axis["ticktext"], strict=True) if text.startswith(title)
    ]
    return float(middle)


def titles(figure: dict[str, Any]) -> list[str]:
    return [text.partition("<br>")[0] for text in figure["layout"]["yaxis"]["ticktext"]]


class TestRows:
    def test_there_is_a_row_for_each_figure_that_anything_has(self) -> None:
        rows = tracks_of(SAMPLES)
        assert [(row.title, [one.source.label for one in row.curves]) for row in rows] == [
            ("utilisation", ["gpu:0", "gpu:1"]),
            ("memory used", ["gpu:0", "gpu:1"]),
            ("CPU", ["run", "machine"]),
        ]
        assert [row.told(row.top) for row in rows] == ["100 %", "4 GiB", "100 %"]

    def test_without_cards_there_is_the_memory_of_the_runs_processes(self) -> None:
        rows = tracks_of(samples(*(one for one in SAMPLES.curves if not one.source.is_card)))
        assert [(row.title, [one.source.label for one in row.curves]) for row in rows] == [
            ("CPU", ["run", "machine"]),
            ("memory used", ["run"]),
        ]

    def test_without_samples_there_is_none(self) -> None:
        assert tracks_of(None) == []
        assert tracks_of(Samples((), (), 1.0)) == []
        assert tracks_of(samples(curve(ZERO, UTILIZATION, *[None] * 5))) == []

    def test_lines_are_named_once_and_where_they_are_many_only_by_hue(self) -> None:
        hues = {"gpu:0": "#111111", "gpu:1": "#222222"}
        load, memory, cpu = (label(row, hues, LIGHT) for row in tracks_of(SAMPLES))
        assert load.startswith("utilisation<br>")
        assert all(text in load for text in ("#111111", "gpu:0", "#222222", "gpu:1"))
        assert memory == "memory used"
        assert ("run" in cpu, "machine" in cpu) == (True, True)
        many = tuple(curve(Sampled(f"GPU-{index}"), UTILIZATION, 1.0) for index in range(8))
        text = label(Track("utilisation", many, 100.0, str), hues, LIGHT)
        assert text.count("■") == 8
        assert "GPU-" not in text


class TestOverview:
    def test_samples_stand_below_the_lanes_on_one_axis(self) -> None:
        figure = overview_figure(RECORDED, theme=LIGHT, samples=SAMPLES)
        assert as_json(figure)
        assert titles(figure)[1:] == ["utilisation", "memory used", "CPU"]
        middles = figure["layout"]["yaxis"]["tickvals"]
        assert middles == sorted(middles)
        assert figure["layout"]["yaxis"]["range"][0] > middles[-1]
        # The run went on for a second behind its last event.
        assert figure["layout"]["xaxis"]["range"] == [0.0, 5.0]
        bare = overview_figure(RECORDED, theme=LIGHT)
        assert bare["layout"]["xaxis"]["range"] == [0.0, 4.0]
        assert figure["layout"]["height"] > bare["layout"]["height"]

    def test_a_missing_sample_is_a_gap_in_line_and_area(self) -> None:
        figure = overview_figure(RECORDED, theme=LIGHT, samples=samples(SAMPLES.curves[0]))
        load = line(figure, "gpu:0 utilisation")
        assert load["x"] == list(TIMES)
        assert [y is None for y in load["y"]] == [False, False, True, False, False]
        assert load["connectgaps"] is False
        (area,) = [one for one in figure["data"] if one.get("fill") == "toself"]
        assert area["x"] == [0.0, 0.0, 1.0, 1.0, None, 4.0, 4.0, 5.0, 5.0, None]

    def test_height_is_the_share_of_the_highest_within_its_row(self) -> None:
        figure = overview_figure(RECORDED, theme=LIGHT, samples=SAMPLES)
        low, high, _, half, _ = line(figure, "gpu:0 utilisation")["y"]
        assert high < half < low
        assert half == pytest.approx((high + low) / 2)
        middle = row_of(figure, "utilisation")
        assert middle - 0.75 < high < low < middle + 0.75
        # One scale for all lines of a row: 4 GiB is the top of memory.
        assert line(figure, "gpu:1 memory used")["y"][3] < min(
            y for y in line(figure, "gpu:0 memory used")["y"] if y is not None
        )

    def test_each_has_its_devices_hue_whatever_nvidia_smi_counts(self) -> None:
        figure = overview_figure(RECORDED, theme=LIGHT, devices=["gpu:0", "gpu:1"], samples=SAMPLES)
        assert line(figure, "gpu:0 utilisation")["line"]["color"] == LIGHT.hues[0]
        assert line(figure, "gpu:1 utilisation")["line"]["color"] == LIGHT.hues[1]
        strangers = [Sampled(f"GPU-{index}", (), index) for index in range(3)]
        figure = overview_figure(
            RECORDED, theme=LIGHT, samples=samples(*(curve(one, POWER, *[9.0] * 5) for one in strangers))
        )
        lines = [line(figure, f"nvidia-smi's {index} power")["line"] for index in range(3)]
        assert {one["color"] for one in lines} == {LIGHT.muted}
        assert len({one["dash"] for one in lines}) == 3

    def test_a_point_that_no_line_reaches_is_marked(self) -> None:
        values = (1.0, None, 1.0, 1.0, *[1.0] * 100)
        many = Samples(tuple(map(float, range(104))), (curve(ZERO, UTILIZATION, *values),), 1.0)
        sizes = line(overview_figure(EMPTY, theme=LIGHT, samples=many), "gpu:0 utilisation")["marker"]["size"]
        assert [index for index, size in enumerate(sizes) if size] == [0]

    def test_it_is_told_that_they_are_samples_and_how_often(self) -> None:
        def texts(shown: Samples) -> list[str]:
            layout = overview_figure(RECORDED, theme=LIGHT, samples=shown)["layout"]
            return [note["text"] for note in layout["annotations"]]

        assert "sampled once a second; 100 % of CPU is all 4 cores" in texts(SAMPLES)
        assert "sampled once a second" in texts(samples(SAMPLES.curves[0]))
        assert {"100 %", "4 GiB"} <= set(texts(SAMPLES))
        long = Samples(TIMES, SAMPLES.curves, 4.0, mean_of_s=90.0)
        (told,) = [text for text in texts(long) if text.startswith("sampled every 4 s; ")]
        assert told.endswith("; each point is the mean of 1 min 30 s, of memory the most")

    def test_under_the_pointer_is_what_was_sampled_then(self) -> None:
        figure = overview_figure(RECORDED, theme=LIGHT, samples=SAMPLES)
        (pointed,) = [one for one in figure["data"] if one.get("marker", {}).get("opacity") == 0]
        assert pointed["x"] == [0.5, 1.5, 2.5, 3.5, 4.5]
        first, second, _, fourth, last = pointed["hovertext"]
        assert first.endswith("gpu:0 eager ops: 1 op<br>" + "<br>".join(Moments(SAMPLES).told(0.0, 1.0)))
        assert "gpu:0: 100 %, 2 GiB" in second
        assert "machine: CPU 80 %, 9 GiB used" in second
        assert "run: CPU 40 %, 1 GiB" in fourth
        # Behind the last event there are still samples.
        assert "gpu:0: 50 %, 1 GiB" in last

    def test_a_run_without_a_recording_has_its_samples_all_the_same(self) -> None:
        figure = overview_figure(EMPTY, theme=LIGHT, samples=SAMPLES)
        assert as_json(figure)
        assert titles(figure) == ["utilisation", "memory used", "CPU"]
        assert figure["layout"]["xaxis"]["range"] == [0.0, 5.0]
        assert overview_figure(EMPTY, theme=LIGHT, samples=None)["data"] == []

    def test_heat_is_drawn_in_the_strong_colour_and_a_power_limit_is_not(self) -> None:
        def slowed(*words: str) -> list[dict[str, Any]]:
            shown = samples(*SAMPLES.curves, throttled=((ZERO, words),))
            figure = overview_figure(RECORDED, theme=LIGHT, samples=shown)
            return [one for one in figure["data"] if one.get("name") == "slowed down"]

        assert slowed("", "power cap (software)", "", "sync boost", "") == []
        (mark,) = slowed("", "thermal slowdown (hardware)", "", "hardware slowdown, sync boost", "")
        assert [y is not None for y in mark["y"]] == [False, True, False, True, False]
        assert mark["line"]["color"] == LIGHT.alert
        shown = samples(*SAMPLES.curves, throttled=((ZERO, ("", "power cap (software)", "", "", "")),))
        assert "slowed down: power cap (software)" in Moments(shown).told(1.0, 0.5)[0]

    def test_names_are_text(self) -> None:
        evil = Sampled("GPU-x", ("<b>gpu:0",), 1)
        figure = overview_figure(EMPTY, theme=LIGHT, samples=samples(curve(evil, UTILIZATION, *[5.0] * 5)))
        assert "<b>gpu:0" not in as_json(figure)
        assert plain("<b>gpu:0") in as_json(figure)

    def test_only_phases_with_room_for_their_names_are_named(self) -> None:
        phases = (Phase("start-up", 0.0, 0.1), Phase("first step", 0.1, 2.0), Phase("training", 2.0, 4.0))
        figure = overview_figure(Overview(0.0, 4.0, RECORDED.lanes, phases), theme=LIGHT)
        assert [note["text"] for note in figure["layout"]["annotations"]][:2] == ["first step", "training"]


class TestWindow:
    BAR = Bar("op|gpu:0", 1.2, 0.5, "MatMul", "gpu:0", key=7)

    def test_samples_of_the_stretch_stand_below_its_bars_and_tell_themselves(self) -> None:
        figure = window_figure(Window(1.0, 4.5, (LANE,), (self.BAR,), 1), theme=LIGHT, samples=SAMPLES)
        assert as_json(figure)
        assert figure["layout"]["xaxis"]["range"] == [1.0, 4.5]
        assert titles(figure)[1:] == ["utilisation", "memory used", "CPU"]
        told = line(figure, "gpu:0 utilisation")["hovertext"]
        assert told[1] == "<b>gpu:0 utilisation (nvidia-smi's 2)</b><br>100 % at 1 s"
        assert told[2] == ""
        (bar,) = [one for one in figure["data"] if one["type"] == "bar"]
        assert bar["customdata"] == [[7, "op|gpu:0"]]

    def test_a_stretch_with_neither_says_so_and_is_that_stretch(self) -> None:
        figure = window_figure(Window(1.0, 4.5, (), (), 0), theme=LIGHT)
        assert figure["data"] == []
        assert figure["layout"]["xaxis"]["range"] == [1.0, 4.5]

    def test_a_stretch_without_events_has_its_samples(self) -> None:
        figure = window_figure(Window(1.0, 4.5, (), (), 0), theme=LIGHT, samples=SAMPLES)
        assert titles(figure) == ["utilisation", "memory used", "CPU"]


class TestMoments:
    def test_the_nearest_sample_within_reach(self) -> None:
        moments = Moments(SAMPLES)
        assert moments.nearest(1.4, 1.0) == 1.0
        # At 2.5 no sample is, only a gap.
        assert moments.nearest(2.5, 1.0) is None
        assert moments.nearest(2.5, 1.5) == 1.0
        assert moments.nearest(9.0, 1.0) is None
        assert moments.told(9.0, 1.0) == []
        assert moments.told(5.2, 1.0) == [
            "gpu:0: 50 %, 1 GiB",
            "machine: CPU 80 %, 9 GiB used",
            "run: CPU 40 %, 1 GiB",
        ]

    def test_how_many_are_in_a_stretch(self) -> None:
        moments = Moments(SAMPLES)
        assert [moments.within(*ends) for ends in ((0.0, 1.0), (1.1, 3.9), (2.0, 9.0))] == [2, 0, 2]
        assert Moments(Samples((), (), 1.0)).within(0.0, 9.0) == 0

    def test_of_memory_the_most_counts(self) -> None:
        mean = curve(ZERO, MEMORY, *[GIB] * 5, highest=(3 * GIB,) * 5)
        load = curve(ZERO, UTILIZATION, *[50.0] * 5, highest=(100.0,) * 5)
        assert Moments(samples(load, mean)).told(0.0, 1.0) == ["gpu:0: 50 %, 3 GiB"]
