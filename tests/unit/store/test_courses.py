"""The steps of runs in which several lines apply optimizers. A letter is a step by one of them, in order."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from app.facts.frequency.recurrence import Own
from app.facts.tables import Tables, tables_of
from app.reports.run_report import run_report
from app.store.run import open_run
from tests.unit.traces import SECOND, Trace, hop_fields, write_status


def run_of(folder: Path, program: str) -> Tables:
    """Small letters are steps by a line each; before a capital one's step Python takes its loss."""
    trace = Trace(folder)
    trace.facts(devices=["cpu:0", "cpu:1"])
    names = program.lower()
    marks = {
        name: trace.key("mark", names.count(name), name="step", loc=trace.location(f"t.py:{ord(name)}"))
        for name in sorted(set(names))
    }
    takes = {
        name: trace.key("hop", program.count(name), **hop_fields("cpu:1", "cpu:0", tensor=name))
        for name in sorted({name for name in program if name.isupper()})
    }
    for step, name in enumerate(program):
        if name.isupper():
            trace.event("hop", step * SECOND, takes[name])
        trace.event("mark", step * SECOND + 1, marks[name.lower()])
    trace.close()
    return tables_of(open_run(folder))


def own(tables: Tables) -> dict[str, Own | None]:
    return {key.fields["tensor"]: tables.own([key.id], key.count) for key in tables.of_kind("hop")}


def in_short(program: str) -> str:
    """``10a 10b`` for what a test is named."""
    return " ".join(f"{len(list(steps))}{name}" for name, steps in groupby(program))[:30]


@pytest.mark.parametrize(
    ("program", "steps"),
    [
        ("a" * 10, 10),
        ("a" * 20 + "b" * 20, 40),  # a pretraining, a fine-tuning
        ("ab" * 10, 10),  # two networks in turn
        ("aaaaab" * 10, 50),  # the one five times as often
        (("a" * 8 + "b" * 8) * 5, 80),  # eighty updates of each, in turn
        ("a" * 12 + "bc" * 9, 21),  # a network by itself, then two in turn
        (("a" * 30 + "c") * 4, 120),  # an average's update after each epoch
        ("a" + "b" * 20, 21),  # a trial before it
    ],
    ids=lambda value: in_short(value) if isinstance(value, str) else "",
)
def test_loops_after_each_other_add_up_and_what_takes_turns_is_one(
    tmp_path: Path, program: str, steps: int
) -> None:
    assert run_of(tmp_path, program).steps == steps


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("a" * 20 + "B" * 20, {"B": Own(1, 20, "step")}),
        ("A" * 20 + "b" * 40, {"A": Own(1, 20, "step")}),
        (("a" * 8 + "B" * 8) * 5, {"B": Own(1, 40, "step")}),
        ("aaB" * 20, {"B": Own(1, 20, "step")}),
        ("a" * 150 + "B" * 150, {"B": Own(1, 150, "step")}),
        ("a" * 40 + "A" * 16, {"A": Own(1, 16, "step")}),  # another thing after each of the last steps
        ("a" * 40 + "A" * 4, {"A": None}),
        ("A" * 16 + "a" * 40, {"A": None}),  # building, perhaps
        ("a" * 30 + "A" * 10 + "a" * 10, {"A": None}),
        ("aB" * 20, {"B": None}),  # of every step
        (("a" * 30 + "C") * 4, {"C": None}),  # now and then
        (("a" * 8 + "C") * 10, {"C": None}),
        ("a" * 95 + "B" * 8, {"B": None}),  # a trial after it
        ("a" * 20 + ("b" * 9 + "B") * 2, {"B": None}),  # every tenth step
    ],
    ids=lambda value: in_short(value) if isinstance(value, str) else "",
)
def test_what_happens_in_each_step_of_one_of_several_loops_recurs(
    tmp_path: Path, program: str, expected: dict[str, Own | None]
) -> None:
    tables = run_of(tmp_path, program)
    assert own(tables) == expected
    for key in tables.of_kind("hop"):
        each = tables.each([key.id], key.count)
        loop = expected[key.fields["tensor"]]
        assert each == (loop.each if loop else 1 if program == "aB" * 20 else 0)


def test_what_one_of_several_loops_does_is_told_by_its_steps(tmp_path: Path) -> None:
    """A finding says in how many steps: the run has more of them."""
    run_of(tmp_path, "a" * 20 + "B" * 12)
    write_status(tmp_path)
    report = run_report(tmp_path)
    assert report["steps"] == 32
    assert [": 100 B in each of 12 steps." in found["summary"] for found in report["findings"]] == [True]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([16, 17, 18, 19, 20, 21], Own(1, 6, "step")),
        ([16, 17, 18, 19, 21, 21], None),  # not in each
        ([16, 16, 17, 18, 19, 21], None),
        ([15, 16, 17, 18, 19, 20, 21], None),  # of the other loop too
        ([16, 16, 17, 17, 18, 18, 19, 19, 20, 20, 21, 21], None),  # of its own course, perhaps
        ([21] * 6, None),
    ],
)
def test_what_a_thread_does_once_in_each_step_of_one_of_several_loops_recurs(
    tmp_path: Path, steps: list[int], expected: Own | None
) -> None:
    """As a moving average that is started and joined after each step; others may be ahead, or behind."""
    trace = Trace(tmp_path)
    trace.facts(devices=["cpu:0", "cpu:1"])
    fit, batches = (
        trace.key("mark", count, name="step", loc=trace.location(f"t.py:{count}")) for count in (16, 6)
    )
    taken = trace.key("hop", len(steps), **hop_fields("cpu:1", "cpu:0", tensor="x"))
    for step in range(22):
        trace.event("mark", step * SECOND, fit if step < 16 else batches)
    for place, step in enumerate(steps):
        trace.event("hop", step * SECOND + 1 + place, taken, thread=78)
    trace.close()
    tables = tables_of(open_run(tmp_path))
    assert own(tables) == {"x": expected}
    assert tables.each([taken], len(steps)) == (expected and expected.each)
