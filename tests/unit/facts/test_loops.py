"""What recurs in runs that nothing marks. Programs are written as what they do, in order, a word each.

``op:3`` is an op at line 3 on cpu:1, ``host:3`` one on the host, ``call:3`` a function's call; ``take:4``
takes a value of cpu:1 to Python, ``bring:4`` copies to cpu:1 from the host and ``across:4`` from cpu:2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from app.diagnosis.judge import hop_table
from app.facts.frequency.iterations import Happened
from app.facts.frequency.loops import loops
from app.facts.tables import Tables, tables_of
from app.facts.transfers.hops import Hop
from app.reports.run_report import run_report
from app.store.run import open_run
from probes.trace.rows import Key
from tests.unit.traces import Trace, hop_fields, write_status

MS = 1_000_000


def own_rounds(hop: Hop) -> int | None:
    return hop.own.rounds if hop.own else None


FIELDS: dict[str, tuple[str, dict[str, Any]]] = {
    "op": ("op", {"op": "MatMul", "device": "cpu:1"}),
    "norm": ("op", {"op": "Norm", "device": "cpu:1"}),
    "read": ("op", {"op": "ReadVariableOp", "device": "cpu:1"}),
    "host": ("op", {"op": "MatMul", "device": "cpu:0"}),
    "call": ("call", {"graph": 1}),
    "take": ("hop", {"kind": "pull", "src": "cpu:1", "dst": "cpu:0", "op": "Python"}),
    "bring": ("hop", {"kind": "copy", "src": "cpu:0", "dst": "cpu:1", "op": "_copyto"}),
    "across": ("hop", {"kind": "copy", "src": "cpu:2", "dst": "cpu:1", "op": "MatMul"}),
}
Program = Sequence[str]


def found(*threads: Program, counts: dict[str, int] | None = None, lasts_ms: int = 0) -> dict[str, int]:
    """``{"take:4": 6}``: the rounds of the loops in which transfers are, of threads a millisecond a word.

    An empty word is a pause. `counts` are executions beyond those that are told one by one, `lasts_ms` when
    their words ended.
    """
    words = list(dict.fromkeys(word for program in threads for word in program if word))
    number = {word: place for place, word in enumerate(words, 1)}
    times = Counter(word for program in threads for word in program) | Counter(counts or {})
    keys = {}
    for word in words:
        kind, fields = FIELDS[word.split(":")[0]]
        keys[number[word]] = Key(number[word], kind, fields | {"loc": int(word.split(":")[1])}, times[word])
    events = sorted(
        Happened(place * MS + thread, number[word], thread)
        for thread, program in enumerate(threads)
        for place, word in enumerate(program)
        if word
    )
    ends = {number[word]: lasts_ms * MS for word in counts or {}}
    by_line = loops(events, keys, lambda key: str(key.fields["loc"]), ends)
    names = {(key.kind, str(key.fields["loc"])): word for word, key in zip(words, keys.values(), strict=True)}
    return {
        names[str(line[1]), str(line[2])]: loop.rounds for line, loop in by_line.items() if line[1] == "hop"
    }


def test_what_other_lines_work_between_is_of_a_loop() -> None:
    assert found(["op:3", "take:4"] * 6) == {"take:4": 6}


def test_a_few_items_handled_one_by_one_are_no_loop() -> None:
    assert found(["op:3", "take:4"] * 5) == {}


def test_loops_of_different_length_have_rounds_of_their_own() -> None:
    greedy, beam = ["op:2", "call:3", "take:4"] * 20, ["op:6", "call:7", "take:8", "take:8"] * 15
    assert found([*greedy, *beam]) == {"take:4": 20, "take:8": 15}


def test_a_line_that_the_loop_runs_twice_in_each_round_is_not_the_rounds() -> None:
    assert found(["op:3", "take:8", "op:3", "op:9"] * 14) == {"take:8": 14}


def test_what_one_call_copies_is_one_round_however_much_it_is() -> None:
    """Gluon's initialisation makes each parameter on the host and copies it, in one line of the program."""
    assert found(["norm:2", "bring:2", "read:2"] * 12 + ["op:3"] * 3) == {}
    assert found(["read:9", "take:9"] * 12) == {}


def test_a_loop_on_a_single_line_needs_more_rounds() -> None:
    assert found(["call:3", "take:3"] * 9) == {}
    assert found(["call:3", "take:3"] * 10) == {"take:3": 10}


@pytest.mark.parametrize("tenth", [["op:2", "take:5"] + ["op:2"] * 9, ["op:2"] * 10 + ["norm:4", "take:5"]])
def test_every_tenth_round_of_a_loop_is_no_loop(tenth: list[str]) -> None:
    """``if step % 10 == 0``, and ``if step % 10 == 9`` with an op of the condition's own."""
    assert found(tenth * 10) == {}


def test_an_inner_loop_is_not_mistaken_for_the_rounds() -> None:
    layers = ["op:3", "norm:3"] * 9
    assert found(["op:7", *layers, "take:9"] * 12) == {"take:9": 12}
    # The same, where the value is taken before the inner loop.
    assert found(["op:7", "take:9", "op:11", *layers] * 12) == {"take:9": 12}


def test_what_as_many_rounds_of_another_loop_interrupt_is_no_loop() -> None:
    """An evaluation after each epoch; nobody knows here which of the two is the training."""
    train, evaluate = ["op:2", "norm:3", "bring:4"] * 12, ["op:7", "take:8"] * 12
    assert found([*train, *evaluate] * 3) == {}


def test_a_loop_that_a_short_evaluation_interrupts_is_one() -> None:
    train, evaluate = ["op:2", "take:4"] * 12, ["op:7", "norm:8"] * 5
    assert found([*train, *evaluate] * 3) == {"take:4": 36}


def test_a_burst_is_no_loop() -> None:
    """The norms of twelve parameters are printed, before a loop that goes on for long."""
    norms = ["norm:2", "take:3"] * 12
    assert found([*norms, *["op:5", "call:6"] * 150]) == {}
    assert found([*norms, *["op:5", "call:6"] * 15]) == {"take:3": 12}


def test_parameters_and_data_that_are_brought_before_they_are_used_are_no_loop() -> None:
    parameters = ["host:2", "bring:3"] * 12
    assert found([*parameters, *["op:5", "call:6"] * 12]) == {}
    assert found([*parameters, *["op:5", "call:6"] * 6]) == {"bring:3": 12}  # nothing uses them so often
    used_at_once = ["host:2", "bring:3", "op:4"] * 12
    assert found([*used_at_once, *["op:5", "call:6"] * 12]) == {"bring:3": 12}


def test_a_copy_between_devices_is_of_its_loop_whatever_comes_later() -> None:
    assert found([*["host:2", "across:3"] * 12, *["op:5", "call:6"] * 12]) == {"across:3": 12}


def test_work_that_differs_each_time_is_no_loop() -> None:
    assert found([word for line in range(10, 22) for word in (f"op:{line}", "take:4")]) == {}


def test_threads_that_go_the_same_way_add_up() -> None:
    assert found(["op:3", "take:4"] * 6, ["op:3", "take:4"] * 8) == {"take:4": 14}


def test_what_two_loops_share_does_not_recur_in_the_pause_between_them() -> None:
    first, second = ["op:2", "take:3", "host:4"] * 12, ["op:5", "take:6", "host:4"] * 12
    pause = [""] * 1000
    assert found([*first, *pause, *second]) == {"take:3": 12, "take:6": 12}
    assert found(first, [*pause, *second]) == {"take:3": 12, "take:6": 12}


def taking_turns(rounds: int, tasks: Sequence[int]) -> list[list[str]]:
    """A loop whose every round brings data, and waits for three threads that have so many tasks each."""
    programs: list[list[str]] = [[] for _ in range(4)]
    for _ in range(rounds):
        programs[0] += ["bring:2", "op:2"]
        for thread, number in enumerate(tasks, 1):
            programs[thread] += [""] * (len(programs[0]) - len(programs[thread])) + [
                "op:3",
                "across:3",
            ] * number
        longest = max(map(len, programs))
        programs[0] += [""] * (longest - len(programs[0]))
    return programs


def test_rounds_of_a_pool_are_those_of_the_loop_that_waits_for_it() -> None:
    """GIVEN a loop that hands tasks to three threads THEN its line and theirs have its rounds."""
    assert found(*taking_turns(8, (1, 1, 1))) == {"bring:2": 8, "across:3": 8}
    assert found(*taking_turns(8, (2, 1, 0))) == {"bring:2": 8, "across:3": 8}
    # Threads that nobody waits for go round by themselves.
    alone = ["op:3", "op:5", "across:4"] * 8
    assert found(["op:1"], alone, alone) == {"across:4": 16}


def test_executions_that_are_only_counted_are_rounds_like_the_first() -> None:
    """Beyond its first 200 a key's are told together; a line that runs thrice a round is told to its 66th."""
    program = ["op:2", "op:2", "op:2", "take:4"] * 66 + ["op:2", "op:2"] + ["take:4"] * 134
    assert found(program, counts={"take:4": 600}, lasts_ms=2400) == {"take:4": 600}
    # Had it gone on so, it would have been over sooner: something else came between.
    assert found(program, counts={"take:4": 600}, lasts_ms=60_000) == {}


def test_a_round_that_is_only_partly_told_counts_with_the_others() -> None:
    """A line that is run 32 times in each of 10 rounds is told to the 8th time of its 7th."""
    told = [*(["op:2", *["take:4"] * 32] * 6), "op:2", *["take:4"] * 8, *["op:2"] * 3]
    assert found(told, counts={"take:4": 320}, lasts_ms=330) == {"take:4": 10}


def record(trace: Trace, program: Program) -> None:
    """Write a program as a trace of a process without steps; transfers move 100 bytes."""
    times = Counter(program)
    keys = {}
    for word in times:
        kind, fields = FIELDS[word.split(":")[0]]
        place = {"loc": trace.location(f"t.py:{word.split(':')[1]}")}
        facts = hop_fields(**(fields | place)) if kind == "hop" else fields | place
        keys[word] = trace.key(kind, times[word], **facts)
    for number, word in enumerate(program):
        trace.event(FIELDS[word.split(":")[0]][0], number * MS, keys[word])
    trace.close()


def tables(trace: Trace, program: Program) -> Tables:
    record(trace, program)
    return tables_of(open_run(trace.folder))


def test_transfers_are_told_by_the_rounds_of_their_own_loops(tmp_path: Any) -> None:
    program = ["op:2", "take:4"] * 20 + ["op:6", "take:8", "take:8"] * 15 + ["take:9"]
    hops = {hop.site: hop for hop in hop_table(tables(Trace(tmp_path), program))}
    told = {site: (hop.each, own_rounds(hop), hop.cause.severity) for site, hop in hops.items()}
    assert told == {
        "t.py:4": (1, 20, "warning"),
        "t.py:8": (2, 15, "warning"),
        "t.py:9": (0, None, "info"),
    }
    write_status(tmp_path)
    summaries = [found["summary"] for found in run_report(tmp_path)["findings"]]
    assert [text.partition("t.py:")[2].partition(",")[0] for text in summaries] == [
        "8: 2.93 KiB in the whole run",
        "4: 1.95 KiB in the whole run",
        "9: 100 B in the whole run",
    ]


@pytest.mark.parametrize(
    ("steps", "work", "expected"),
    [
        ((0, 1, 2, 3), "op:2", (1, 20, "warning")),  # a generator, when the training is over
        ((0, 1, 2, 3), "op:4", (0, None, "info")),  # a call that goes round inside, as to score all data
        ((0, 1, 2, 100 * MS), "op:2", (0, None, "info")),  # an evaluation: a step follows
    ],
)
def test_beside_steps_only_a_loop_that_comes_after_them_tells_what_recurs(
    tmp_path: Any, steps: Sequence[int], work: str, expected: tuple[float, int | None, str]
) -> None:
    trace = Trace(tmp_path)
    mark = trace.key("mark", len(steps), name="step")
    for step in steps:
        trace.event("mark", step, mark)
    (hop,) = hop_table(tables(trace, [work, "take:4"] * 20))
    assert (hop.each, own_rounds(hop), hop.cause.severity) == expected


def test_a_line_that_runs_between_steps_too_has_no_loop_after_them(tmp_path: Any) -> None:
    trace = Trace(tmp_path)
    mark = trace.key("mark", 4, name="step")
    for step in (0, 1, 2, 9 * MS):
        trace.event("mark", step, mark)
    (hop,) = hop_table(tables(trace, ["op:2", "take:4"] * 20))
    assert (hop.each, own_rounds(hop), hop.cause.severity) == (0, None, "info")


def test_a_function_that_is_called_a_few_times_does_not_pace_a_loop(tmp_path: Any) -> None:
    trace = Trace(tmp_path)
    graph = trace.graph()
    built = trace.key("call", 2, graph=graph, function="build", loc=trace.location("t.py:1"))
    for time in (0, 30):
        trace.event("call", time * MS + 1, built)
    crossing = hop_fields("cpu:1", "cpu:2", graph=graph, per_call=3, requested="cpu:2", op="Read")
    trace.key("hop", None, **(crossing | {"producer_op": "ReadVariableOp"}))
    hops = {hop.kind: hop for hop in hop_table(tables(trace, ["op:2", "take:4"] * 20))}
    told = {kind: (hop.each, own_rounds(hop), hop.cause.severity) for kind, hop in hops.items()}
    # What it does in each call it does, though.
    assert told == {"copy": (3, 2, "warning"), "pull": (1, 20, "warning")}
    write_status(tmp_path)
    summaries = [found["summary"] for found in run_report(tmp_path)["findings"]]
    assert any("300 B each call." in text for text in summaries), summaries


def test_transfers_of_one_line_recur_though_their_shapes_differ(tmp_path: Any) -> None:
    """As a generator's, whose sequence grows by a token in each round."""
    trace = Trace(tmp_path)
    op = trace.key("op", 12, op="MatMul", device="cpu:1", loc=trace.location("t.py:2"))
    loc = trace.location("t.py:4")
    for size in range(12):
        fields = hop_fields(
            "cpu:1", "cpu:0", kind="pull", op="Python", loc=loc, shape=str(size), bytes=4 * size
        )
        taken = trace.key("hop", 1, **fields)
        trace.event("op", 2 * size * MS, op)
        trace.event("hop", (2 * size + 1) * MS, taken)
    trace.close()
    hops = hop_table(tables_of(open_run(tmp_path)))
    assert {(hop.each, own_rounds(hop)) for hop in hops} == {(1 / 12, 12)}
