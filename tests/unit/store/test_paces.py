"""In which steps things happen: each step's apart from what a program does while it builds or evaluates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.facts.tables import Tables, tables_of
from app.reports.run_report import run_report
from app.store.run import open_run
from tests.unit.traces import SECOND, Trace, hop_fields, write_status


def run_of(
    folder: Path,
    happened: Mapping[str, Sequence[tuple[int, int]]],
    steps: int,
    **fields: Any,
) -> Tables:
    """A run in which each key happened so often before the end of these steps: [(step, times)]."""
    trace = Trace(folder)
    trace.facts(devices=["cpu:0", "cpu:1"])
    mark = trace.key("mark", steps, name="step")
    for name, executions in happened.items():
        facts = hop_fields("cpu:0", "cpu:1", tensor=name, **fields)
        key = trace.key("hop", sum(times for _, times in executions), **facts)
        for step, times in executions:
            for time in range(times):
                trace.event("hop", step * SECOND + time, key)
    for step in range(1, steps + 1):
        trace.event("mark", step * SECOND - 1, mark)
    trace.close()
    write_status(folder, "finished")
    store = open_run(folder)
    store.seal()
    return tables_of(store)


def each(tables: Tables) -> float | None:
    (key,) = tables.of_kind("hop")
    return tables.each([key.id], key.count)


@pytest.mark.parametrize(
    ("executions", "expected"),
    [
        ([(step, 1) for step in range(4)], 1),
        ([(step, 2) for step in range(4)], 2),
        ([(0, 8)], 0),  # while building
        ([(0, 9), (1, 1), (2, 1), (3, 1)], 1),
        ([(2, 4)], 0),  # an evaluation
        ([(4, 4)], 0),  # after the training
        ([(1, 1), (2, 1), (3, 1), (4, 1)], 1),  # each step's value, taken once it is applied
    ],
)
def test_what_is_of_every_step_happens_in_each_after_the_first(
    tmp_path: Path, executions: list[tuple[int, int]], expected: int
) -> None:
    assert each(run_of(tmp_path, {"t": executions}, steps=4)) == expected


def test_what_ends_after_some_steps_is_not_of_every_step(tmp_path: Path) -> None:
    assert each(run_of(tmp_path, {"t": [(step, 1) for step in range(100)]}, steps=200)) == 0


def test_executions_that_are_only_counted_keep_their_pace(tmp_path: Path) -> None:
    """After its first 200 a key's executions are told together, some steps later."""
    trace = Trace(tmp_path)
    mark = trace.key("mark", 400, name="step")
    often = trace.key("hop", 4 * 400, **hop_fields("cpu:0", "cpu:1"))
    burst = trace.key("hop", 500, **hop_fields("cpu:0", "cpu:1", op="Fill"))
    for step in range(50):
        for time in range(4):
            trace.event("hop", step * SECOND + time, often)
    for time in range(200):
        trace.event("hop", time, burst)
    trace.event("hop", 30 * SECOND, burst, count=300)
    trace.event("hop", 390 * SECOND, often, count=4 * 350)
    for step in range(1, 401):
        trace.event("mark", step * SECOND - 1, mark)
    trace.close()
    tables = tables_of(open_run(tmp_path))
    assert [tables.each([key.id], key.count) for key in tables.of_kind("hop")] == [4, 0]


@pytest.mark.parametrize("behind", [0, 6])
def test_a_thread_without_steps_keeps_a_pace_of_its_own(tmp_path: Path, behind: int) -> None:
    """Such as an operator in Python that MXNet runs when its inputs are ready, some steps later."""
    trace = Trace(tmp_path)
    mark = trace.key("mark", 6, name="step")
    taken = trace.key("hop", 6, **hop_fields("cpu:1", "cpu:0"))
    for step in range(6):
        trace.event("hop", (behind + step // 3) * SECOND + step, taken, thread=78)
        trace.event("mark", (step + 1) * SECOND - 1, mark)
    trace.close()
    assert each(tables_of(open_run(tmp_path))) is None


@pytest.mark.parametrize(("times", "rounds"), [(12, None), (24, None), (30, 30)])
def test_what_steps_ask_another_thread_for_is_no_loop_after_them(
    tmp_path: Path, times: int, rounds: int | None
) -> None:
    """Steps that only give work out are made in no time: an operator in Python then runs behind them all."""
    trace = Trace(tmp_path)
    mark = trace.key("mark", 12, name="step")
    lines = [trace.location("op.py:3"), trace.location("op.py:5")]
    taken, sent = (
        trace.key("hop", times, **hop_fields("cpu:1", "cpu:0", loc=loc, op=f"at {loc}")) for loc in lines
    )
    work = trace.key("op", times, op="sort", device="cpu:0", loc=trace.location("op.py:4"))
    for step in range(12):
        trace.event("mark", (step + 1) * 1000, mark)
    for number in range(times):
        trace.event("hop", (number + 1) * SECOND, taken, thread=78)
        trace.event("op", (number + 1) * SECOND + 3, work, thread=78)
        trace.event("hop", (number + 1) * SECOND + 5, sent, thread=78)
    trace.close()
    tables = tables_of(open_run(tmp_path))
    found = [tables.own([key.id], key.count) for key in tables.of_kind("hop")]
    assert [own and own.rounds for own in found] == [rounds, rounds]


def test_transfers_of_a_graph_follow_its_calls(tmp_path: Path) -> None:
    """A graph called in turn with another, as a function traced twice is."""
    trace = Trace(tmp_path)
    mark = trace.key("mark", 6, name="step")
    graphs = [trace.graph(), trace.graph()]
    calls = [trace.key("call", 3, graph=graph, function="step", loc=0) for graph in graphs]
    for graph in graphs:
        trace.key("hop", 0, **hop_fields("cpu:0", "cpu:1", graph=graph, per_call=2))
    for step in range(6):
        trace.event("call", step * SECOND, calls[step % 2])
        trace.event("mark", (step + 1) * SECOND - 1, mark)
    trace.close()
    tables = tables_of(open_run(tmp_path))
    keys = tables.of_kind("hop")
    assert [tables.each([key.id], key.count) for key in keys] == [0, 0]
    assert tables.each([key.id for key in keys], 12) == 2


def test_steps_that_workers_run_in_turn_are_each_steps(tmp_path: Path) -> None:
    """A coordinator hands a function's calls out: every worker has a graph of it and runs a part of them."""
    trace = Trace(tmp_path)
    mark = trace.key("mark", 9, name="step")
    graphs = [trace.graph(function="__inference_step_7", step_marks=1) for _ in range(3)]
    calls = [trace.key("call", 3, graph=graph, function="step", loc=0) for graph in graphs]
    for number, graph in enumerate(graphs):
        worker = f"worker:{number}/cpu:0"
        fields = hop_fields("ps:0/cpu:0", worker, producer_op="ReadVariableOp", requested=worker)
        trace.key("hop", 0, **{**fields, "graph": graph, "per_call": 1})
    for step in range(9):
        trace.event("call", step * SECOND, calls[step % 3])
        trace.event("mark", (step + 1) * SECOND - 1, mark)
    trace.close()
    write_status(tmp_path, "finished")
    (finding,) = run_report(tmp_path)["findings"]
    assert (finding["code"], finding["severity"]) == ("variable-home", "warning")
    assert "100 B each step." in finding["summary"]


def test_what_follows_every_other_call_is_regular_without_steps(tmp_path: Path) -> None:
    """Two calls a turn of the loop, then both values; a table printed at every fifth turn is not regular."""
    trace = Trace(tmp_path)
    graph = trace.graph()
    call = trace.key("call", 20, graph=graph, function="step", loc=0)
    pairs, seldom = (trace.key("hop", 20, **hop_fields("cpu:1", "cpu:0", op=op)) for op in ("A", "B"))
    for number in range(20):
        trace.event("call", number * SECOND, call)
        if number % 2:
            trace.event("hop", number * SECOND + 1, pairs)
            trace.event("hop", number * SECOND + 2, pairs)
        if number % 10 == 9:
            for time in range(10):
                trace.event("hop", number * SECOND + 3 + time, seldom)
    trace.close()
    tables = tables_of(open_run(tmp_path))
    assert [tables.each([key.id], key.count) for key in tables.of_kind("hop")] == [1, 0]


@pytest.mark.parametrize(
    ("calls", "size", "expected"),
    [(6, 100, {"A": 1, "B": 0}), (5, 100, {"A": 0, "B": 0}), (5, 100_000, {"A": 1, "B": 0})],
)
def test_without_steps_the_calls_are_the_rounds(
    tmp_path: Path, calls: int, size: int, expected: dict[str, float]
) -> None:
    """Of a few calls only what moves much: a script that tries a thing five times has nothing to change."""
    trace = Trace(tmp_path)
    graph = trace.graph()
    call = trace.key("call", calls, graph=graph, function="predict", loc=0)
    upload, building = (
        trace.key("hop", calls, **hop_fields("cpu:0", "cpu:1", op=op, bytes=size)) for op in ("A", "B")
    )
    for number in range(calls):
        trace.event("hop", number, building)
        trace.event("hop", (number + 1) * SECOND - 10, upload)
        trace.event("call", (number + 1) * SECOND, call)
    trace.close()
    tables = tables_of(open_run(tmp_path))
    found = {key.fields["op"]: tables.each([key.id], key.count) for key in tables.of_kind("hop")}
    assert found == expected


def test_a_few_results_that_are_taken_are_no_cost(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    graph = trace.graph()
    call = trace.key("call", 5, graph=graph, function="predict", loc=0)
    taken = trace.key("hop", 5, **hop_fields("cpu:1", "cpu:0", kind="pull", bytes=100_000))
    for number in range(5):
        trace.event("call", number * SECOND, call)
        trace.event("hop", number * SECOND + 1, taken)
    trace.close()
    assert each(tables_of(open_run(tmp_path))) == 0


def test_what_a_function_does_in_each_call_it_does_however_few_there_are(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    graph = trace.graph()
    call = trace.key("call", 3, graph=graph, function="predict", loc=0)
    trace.key("hop", 0, **hop_fields("cpu:0", "cpu:1", graph=graph, per_call=2))
    for number in range(3):
        trace.event("call", number * SECOND, call)
    trace.close()
    assert each(tables_of(open_run(tmp_path))) == 2


def test_what_a_function_costs_that_is_called_every_third_time_is_told_of_its_own_calls(
    tmp_path: Path,
) -> None:
    """Gradients of three batches are added up before each update."""
    trace = Trace(tmp_path)
    adds, applies = trace.graph(), trace.graph(function="__inference_apply_9")
    add = trace.key("call", 24, graph=adds, function="add", loc=0)
    apply = trace.key("call", 8, graph=applies, function="apply", loc=0)
    trace.key("hop", 0, **hop_fields("cpu:0", "cpu:1", graph=applies, per_call=1, bytes=3072))
    for number in range(24):
        trace.event("call", number * SECOND, add)
        if number % 3 == 2:
            trace.event("call", number * SECOND + 1, apply)
    trace.close()
    write_status(tmp_path, "finished")
    assert each(tables_of(open_run(tmp_path))) == 1
    (finding,) = run_report(tmp_path)["findings"]
    assert "3 KiB each call." in finding["summary"]


@pytest.mark.parametrize("differs", ["src", "shape"])
def test_a_line_takes_values_in_each_step_of_jobs_and_shapes_in_turn(tmp_path: Path, differs: str) -> None:
    """Two trainings take turns, each on its card; or batches come in two lengths."""
    trace = Trace(tmp_path)
    mark = trace.key("mark", 21, name="step")
    values = [{"src": "cpu:1"}, {"src": "cpu:2"}] if differs == "src" else [{"shape": "3"}, {"shape": "4"}]
    loc = trace.location("t.py:5")
    alike = hop_fields("cpu:1", "cpu:0", kind="pull", op="Python", loc=loc)
    taken = [trace.key("hop", count, **{**alike, **one}) for count, one in zip((12, 9), values, strict=True)]
    once = trace.key("hop", 2, **{**alike, "loc": trace.location("t.py:7"), **values[0]})
    turns = [number % 2 for number in range(18)] + [0] * 3
    for step, turn in enumerate(turns):
        trace.event("mark", 2 * step * SECOND, mark)
        trace.event("hop", (2 * step + 1) * SECOND, taken[turn])
    for time in (20, 30):
        trace.event("hop", time * SECOND, once)
    trace.close()
    tables = tables_of(open_run(tmp_path))
    found = [tables.each([key.id], key.count) for key in tables.of_kind("hop")]
    assert found == [12 / 21, 9 / 21, 0]


def test_what_a_line_takes_in_one_way_says_nothing_of_what_it_takes_in_another(tmp_path: Path) -> None:
    """Keras' fit looks in each step for more data, and takes the weights after each epoch to keep them."""
    trace = Trace(tmp_path)
    mark = trace.key("mark", 8, name="step")
    loc = trace.location("t.py:5")
    alike = hop_fields("cpu:1", "cpu:0", kind="pull", op="Python", loc=loc)
    asked, kept = (
        trace.key("hop", count, **{**alike, "shape": taker, "facts": {"sync": taker}})
        for taker, count in (("bool", 8), ("numpy", 2))
    )
    for step in range(8):
        trace.event("mark", 2 * step * SECOND, mark)
        trace.event("hop", (2 * step + 1) * SECOND, asked)
        if step % 4 == 3:
            trace.event("hop", (2 * step + 1) * SECOND + 1, kept)
    trace.close()
    tables = tables_of(open_run(tmp_path))
    assert [tables.each([key.id], key.count) for key in tables.of_kind("hop")] == [1, 0]


@pytest.mark.parametrize(
    ("first", "rest", "told"),
    [
        (1, 6, "100 B each step."),  # in the first step something else made what is sent
        (3, 6, "100 B each step, 200 B more in the whole run."),
        (1, 7, "100 B each step, 100 B more in the whole run."),  # beside that of every step
    ],
)
def test_what_one_row_sends_in_anothers_stead_is_of_every_step(
    tmp_path: Path, first: int, rest: int, told: str
) -> None:
    trace = Trace(tmp_path)
    mark = trace.key("mark", 7, name="step")
    alike = hop_fields("cpu:1", "cpu:0", kind="pull", op="Python", loc=trace.location("t.py:5"))
    keys = [
        trace.key("hop", count, **{**alike, "producer_op": op, "producer_loc": trace.location(made)})
        for count, op, made in ((first, "_zeros", "t.py:1"), (rest, "_copyto", "t.py:9"))
    ]
    for step in range(7):
        for time in range(first if step == 0 else 0):
            trace.event("hop", time, keys[0])
        if step >= 7 - rest:
            trace.event("hop", step * SECOND + 9, keys[1])
        trace.event("mark", (step + 1) * SECOND - 1, mark)
    trace.close()
    write_status(tmp_path, "finished")
    (finding,) = run_report(tmp_path)["findings"]
    assert told in finding["summary"]


def test_what_another_thread_sends_on_is_of_as_many_calls_as_what_it_comes_from(tmp_path: Path) -> None:
    """A detector's thread takes its crops, a recogniser's sends them to its card; one call comes before."""
    trace = Trace(tmp_path)
    graph, queued = trace.graph(), trace.location("t.py:5")
    before = trace.key("call", 1, graph=graph, function="tower", loc=trace.location("t.py:3"))
    call = trace.key("call", 20, graph=graph, function="tower", loc=trace.location("t.py:4"))
    taken = trace.key("hop", 20, **hop_fields("cpu:1", "cpu:0", kind="pull", op="Python", loc=queued))
    fields = hop_fields("cpu:0", "cpu:2", kind="upload", op="Python", loc=trace.location("t.py:8"))
    pulled = {"pulled_from": "cpu:1", "pulled_loc": queued}
    sent = trace.key(
        "hop", 20, **{**fields, "producer_op": "Python", "producer_loc": queued, "facts": pulled}
    )
    trace.event("call", 0, before)
    for number in range(1, 21):
        trace.event("call", number * SECOND, call)
        trace.event("hop", number * SECOND + 1, taken)
        trace.event("hop", (number + 2) * SECOND + 2, sent, thread=78)
    trace.close()
    write_status(tmp_path, "finished")
    (finding,) = run_report(tmp_path)["findings"]
    assert finding["code"] == "bounce" and ": 3.91 KiB in the whole run, 40 transfers." in finding["summary"]


def test_building_is_no_finding_of_every_step(tmp_path: Path) -> None:
    """Sixteen seeds that a model's layers send while they are built, in a run of four steps."""
    run_of(tmp_path, {"seed": [(0, 16)]}, steps=4, producer_op="Python")
    (finding,) = run_report(tmp_path)["findings"]
    assert "in the whole run" in finding["summary"]


def test_a_value_taken_in_evaluations_only_is_no_warning(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    mark = trace.key("mark", 4, name="step")
    sync = trace.key("sync", 6, device="cpu:1", kind="float", loc=0, bytes=4)
    for step in (2, 4):
        trace.event("mark", step * SECOND - SECOND, mark)
        trace.event("mark", step * SECOND - 1, mark)
        for time in range(3):
            trace.event("sync", step * SECOND + time, sync, dur=10)
    trace.close()
    write_status(tmp_path, "finished")
    (finding,) = run_report(tmp_path)["findings"]
    assert (finding["code"], finding["severity"]) == ("host-sync", "info")
