"""What happened when: bins, windows, memory, steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.store.run import open_run
from app.views.timeline_data import Overview
from tests.unit.traces import SECOND, Trace, hop_fields


def values(overview: Overview, lane: str) -> list[float]:
    (row,) = [row for row in overview.lanes if row.lane.id == lane]
    return list(row.values)


def test_a_call_is_busy_for_the_share_of_each_bin_that_it_covers(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    graph = trace.graph("train_step")
    call = trace.key("call", 2, graph=graph, function="train_step", loc=0)
    trace.event("call", int(0.5 * SECOND), call, 2 * SECOND)  # half of bin 0, all of 1, half of 2
    trace.event("call", int(3.75 * SECOND), call, SECOND // 4)

    overview = open_run(tmp_path).binned(4, 0, 4)

    assert (overview.t0_s, overview.t1_s) == (0, 4)
    (row,) = overview.lanes
    assert (row.lane.label, row.lane.kind, row.unit) == ("train_step", "call", "busy")
    assert row.values == pytest.approx((0.5, 1.0, 0.5, 0.25))


def test_calls_that_overlap_are_never_busier_than_busy(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    call = trace.key("call", 2, graph=trace.graph("f"), function="f", loc=0)
    trace.event("call", 0, call, SECOND)
    trace.event("call", 0, call, SECOND)
    assert values(open_run(tmp_path).binned(2, 0, 2), "call||f") == [1.0, 0.0]


def test_a_long_call_shows_in_a_window_that_it_began_before(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    call = trace.key("call", 1, graph=trace.graph("f"), function="f", loc=0)
    trace.event("call", 0, call, 100 * SECOND)
    store = open_run(tmp_path)
    assert values(store.binned(2, 50, 60), "call||f") == [1.0, 1.0]
    window = store.window(50, 60)
    assert [(bar.t0_s, bar.dur_s, bar.label) for bar in window.bars] == [(0, 100, "f")]


def test_eager_ops_and_hops_are_counted(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    op = trace.key("op", 0, op="Add", device="cpu:1", loc=0)
    hop = trace.key("hop", 0, **hop_fields("cpu:0", "cpu:1"))
    trace.event("op", 0, op)
    trace.event("op", SECOND, op, count=40)
    trace.event("hop", SECOND + 1, hop, count=3)

    overview = open_run(tmp_path).binned(2, 0, 2)

    assert [(row.lane.id, row.unit, row.values) for row in overview.lanes] == [
        ("op|cpu:1", "ops", (1.0, 40.0)),
        ("hop|cpu:0|cpu:1", "transfers", (0.0, 3.0)),
    ]
    assert overview.lanes[1].lane.device == "cpu:1"


def test_a_graphs_hops_are_counted_where_its_calls_start(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    graph = trace.graph("f")
    call = trace.key("call", 3, graph=graph, function="f", loc=0)
    trace.key("hop", **hop_fields("cpu:1", "cpu:2", graph=graph, per_call=2))
    trace.key("hop", **hop_fields("cpu:1", "cpu:2", graph=graph, per_call=1))
    trace.key("hop", **hop_fields("cpu:1", "cpu:2", graph=graph))
    for at in (0, 1, 2 * SECOND):
        trace.event("call", at, call, 10)
    assert values(open_run(tmp_path).binned(3, 0, 3), "hop|cpu:1|cpu:2") == [6.0, 0.0, 3.0]


def test_a_window_holds_the_longest_events_and_says_how_many_there_are(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    loc = trace.location("train.py:9")
    sync = trace.key("sync", 0, device="cpu:1", kind="numpy", loc=loc, bytes=4, basis="measured")
    memory = trace.key("memory", 0, device="cpu:1", what="peak", basis="measured", why="")
    for number in range(10):
        trace.event("sync", number * 1000, sync, 100 + number, step=number)
    trace.event("memory", 500, memory, value=3)
    store = open_run(tmp_path)

    window = store.window(0, 1, limit=3)

    assert window.total == 10
    assert [bar.step for bar in window.bars] == [7, 8, 9]
    bar = window.bars[-1]
    assert (bar.lane, bar.label, bar.site, bar.device, bar.bytes) == (
        "sync|cpu:1",
        "numpy",
        "train.py:9",
        "cpu:1",
        4,
    )
    assert bar.dur_s == pytest.approx(109e-9)
    assert [lane.id for lane in window.lanes] == ["sync|cpu:1"]
    assert store.window(1e-6, 2.5e-6).total == 2


def test_a_sampled_op_is_named_as_in_the_graph(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    graph = trace.graph("f")
    trace.node(graph, 5, "dense/MatMul", "MatMul", "cpu:1")
    node = trace.key("node", 1, graph=graph, node=5, device="cpu:1", basis="sampled")
    trace.event("node", 100, node, 50)
    (bar,) = open_run(tmp_path).window(0, 1).bars
    assert (bar.label, bar.basis, bar.lane) == ("dense/MatMul", "sampled", "node|cpu:1")


def test_calls_of_several_processes_are_kept_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        trace = Trace(tmp_path, name)
        trace.event("call", 0, trace.key("call", 1, graph=trace.graph("f"), function="f", loc=0), 10)
    lanes = [row.lane for row in open_run(tmp_path).binned(1).lanes]
    assert [(lane.label, lane.process) for lane in lanes] == [("f", "one"), ("f", "two")]


def test_processes_are_called_by_their_roles_else_by_their_pids(tmp_path: Path) -> None:
    headers: list[dict[str, Any]] = [
        {"role": "worker", "rank": 0, "pid": 11},
        {"role": "worker", "rank": 1, "pid": 12},
        {"role": "worker", "rank": 1, "pid": 13},
        {"pid": 14},
    ]
    for number, header in enumerate(headers):
        trace = Trace(tmp_path, f"{number}", **header)
        trace.event("call", 0, trace.key("call", 1, graph=trace.graph("f"), function="f", loc=0), 10)
    lanes = [row.lane for row in open_run(tmp_path).binned(1).lanes]
    assert [lane.process for lane in lanes] == ["worker:0", "worker:1 pid 12", "worker:1 pid 13", "pid 14"]


def test_memory_keeps_the_highest_of_each_stretch(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    told = trace.key("memory", 0, device="cpu:1", what="in_use", basis="estimated", why="live tensors")
    trace.key("memory", 0, device="gpu:0", what="in_use", basis="unsupported", why="no counter")
    trace.key("memory", 0, device="cpu:1", what="in_use", basis="unsupported", why="nothing yet")
    for number in range(100):
        trace.event("memory", number * SECOND, told, value=number if number != 42 else 10_000)
    series = open_run(tmp_path).memory_series(10)
    assert [(row.device, row.basis, row.why) for row in series] == [
        ("cpu:1", "estimated", "live tensors"),
        ("gpu:0", "unsupported", "no counter"),
    ]
    assert len(series[0].bytes) <= 11
    assert max(series[0].bytes) == 10_000
    assert series[0].t_s[series[0].bytes.index(10_000)] == 42
    assert series[1].bytes == ()


def test_steps_add_up_and_have_a_rate(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    mark = trace.key("mark", 4, name="step")
    for at in (1, 2, 3, 10):
        trace.event("mark", at * SECOND, mark)
    series = open_run(tmp_path).step_series(5)
    assert series is not None
    assert series.t_s == (2, 4, 6, 8, 10)
    assert series.steps == (1, 3, 3, 3, 4)
    assert series.rate == (0.5, 1.0, 0, 0, 0.5)


def test_steps_of_workers_that_step_together_count_once(tmp_path: Path) -> None:
    for name, steps in (("one", 3), ("two", 2)):
        trace = Trace(tmp_path, name)
        mark = trace.key("mark", steps, name="step")
        for step in range(steps):
            trace.event("mark", (step + 1) * SECOND, mark)
    series = open_run(tmp_path).step_series(3)
    assert series is not None
    assert series.steps[-1] == 3


def test_phases_are_told_by_the_first_call_and_the_first_step(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    call = trace.key("call", 2, graph=trace.graph("f"), function="f", loc=0)
    mark = trace.key("mark", 2, name="step")
    trace.event("call", 3 * SECOND, call, 2 * SECOND)
    trace.event("mark", 5 * SECOND, mark)
    trace.event("call", 6 * SECOND, call, 4 * SECOND)
    phases = open_run(tmp_path).binned(10).phases
    assert [(phase.name, phase.t0_s, phase.t1_s) for phase in phases] == [
        ("start-up", 0, 3),
        ("first step", 3, 5),
        ("training", 5, 10),
    ]


@pytest.mark.parametrize(
    ("marked", "end"),
    [
        # Two optimizers take turns: the first calls of both are of the first step.
        ([("d", 5), ("g", 6), ("d", 7), ("g", 8), ("d", 9)], 6),
        # One is applied twice as often: each of its steps is one.
        ([("d", 5), ("d", 6), ("g", 7), ("d", 8), ("d", 9)], 5),
        # A loop after another's end is not of that one's first step.
        ([("d", 5), ("g", 6), ("g", 7), ("g", 8)], 5),
        ([("d", 5), ("g", 6)], 5),
        ([("d", 5)], 5),
    ],
)
def test_the_first_step_ends_with_the_last_of_optimizers_that_take_turns(
    tmp_path: Path, marked: list[tuple[str, int]], end: int
) -> None:
    trace = Trace(tmp_path)
    call = trace.key("call", 1, graph=trace.graph("f"), function="f", loc=0)
    trace.event("call", 3 * SECOND, call, 7 * SECOND)
    marks = {name: trace.key("mark", len(marked), name="step", loc=n) for n, name in enumerate("dg", 1)}
    for name, at in marked:
        trace.event("mark", at * SECOND, marks[name])
    assert [(phase.name, phase.t0_s, phase.t1_s) for phase in open_run(tmp_path).binned(10).phases] == [
        ("start-up", 0, 3),
        ("first step", 3, end),
        ("training", end, 10),
    ]


@pytest.mark.parametrize("window", [(0.0, 1e300), (1e300, 1e301), (-1e300, 1.0)])
def test_a_window_may_ask_for_any_time(tmp_path: Path, window: tuple[float, float]) -> None:
    trace = Trace(tmp_path)
    call = trace.key("call", 1, graph=trace.graph("f"), function="f", loc=0)
    trace.event("call", SECOND // 2, call, SECOND)
    store = open_run(tmp_path)
    found = store.window(*window)
    assert len(found.bars) == (window[0] < 1)
    assert store.binned(4, *window).t1_s > 0
