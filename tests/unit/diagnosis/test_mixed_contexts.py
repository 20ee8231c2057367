"""Ops whose inputs lie on several devices: one finding a line, an error."""

from __future__ import annotations

from typing import Any

from app.diagnosis.causes.mixed_context.cause import mixed_findings
from app.diagnosis.findings import run_findings
from app.diagnosis.registry import advice, because
from app.facts.syncs import Sync
from app.facts.tables import Tables
from probes.trace.rows import Key, Location

SITES = {n: Location(n, f"mix.py:{n}", None, "/mix.py", n, "main") for n in (3, 5, 7, 9, 11)}


def mixed(number: int, op: str, device: str, reads: list[str], count: int, **fields: Any) -> Key:
    facts: dict[str, Any] = {
        "op": op,
        "device": device,
        "reads": reads,
        "bytes": 40,
        "loc": 7,
        "outcome": "read",
    }
    facts["elsewhere"] = "elsewhere it raises"
    return Key(number, "mixed", facts | {"basis": "measured"} | fields, count)


def tables(*keys: Key, steps: int = 0) -> Tables:
    marks = [Key(99, "mark", {"name": "step"}, steps)] if steps else []
    return Tables([], SITES, [], [*keys, *marks], [])


def test_inputs_that_were_read_in_place() -> None:
    run = tables(
        mixed(1, "broadcast_add", "cpu:1", ["cpu:2"], 30),
        mixed(2, "dot", "cpu:1", ["cpu:3"], 10, bytes=8),
        mixed(3, "dot", "cpu:2", ["cpu:1"], 5, loc=9),
        mixed(4, "dot", "cpu:2", ["cpu:1"], 0, loc=9),
        steps=30,
    )
    first, second = mixed_findings(run)
    assert (first.code, first.severity, first.site, first.hops) == ("mixed-context", "error", "mix.py:7", ())
    assert first.summary == (
        "broadcast_add, dot at mix.py:7 ran on cpu:1 and read inputs in place that lie on cpu:2 and cpu:3, "
        "40\u00d7: elsewhere it raises."
    )
    assert first.evidence.row() == {
        "ops": ["broadcast_add", "dot"],
        "ran_on": ["cpu:1"],
        "inputs_also_on": ["cpu:2", "cpu:3"],
        "read_in_place": 40,
        "raised": 0,
        "bytes": 1280,
    }
    words = "Bring the inputs to one device before the op: x.as_in_context(y.context)."
    assert advice(first.code, first.evidence) == words
    assert (first.recurs, second.recurs) == (True, False)
    assert (second.site, second.evidence.row()["read_in_place"]) == ("mix.py:9", 5)


def test_an_op_that_the_framework_refused() -> None:
    (found,) = mixed_findings(tables(mixed(1, "dot", "gpu:0", ["gpu:1"], 2, outcome="raised")))
    assert found.summary == (
        "dot at mix.py:7 took inputs on gpu:0 together with inputs on gpu:1, and raised, 2\u00d7."
    )
    assert (found.severity, found.evidence.row()["raised"], found.evidence.row()["bytes"]) == ("error", 2, 0)


def test_a_line_that_did_both_is_one_finding() -> None:
    both = tables(
        mixed(1, "dot", "cpu:1", ["cpu:2"], 2), mixed(2, "Cached", "cpu:1", ["cpu:2"], 1, outcome="raised")
    )
    (found,) = mixed_findings(both)
    assert "in place that lie on cpu:2, 2\u00d7" in found.summary and "and raised, 1\u00d7" in found.summary


def test_an_unknown_line_is_said_to_be_one() -> None:
    (found,) = mixed_findings(tables(mixed(1, "dot", "cpu:1", ["cpu:2"], 1, loc=0)))
    assert found.site is None and "at an unknown line" in found.summary


def test_what_made_the_inputs_that_lie_elsewhere_is_told() -> None:
    made = {"producer_op": "_random_normal", "producer_loc": 9}
    (found,) = mixed_findings(tables(mixed(1, "dot", "cpu:1", ["cpu:0"], 1, **made)))
    assert found.evidence.row()["inputs_made_by"] == ["_random_normal"]
    assert found.evidence.row()["inputs_made_at"] == ["mix.py:9"]


def test_of_two_inputs_that_which_nobody_gave_a_context_is_to_blame_wherever_the_op_ran() -> None:
    label = {"producer_op": "argmax", "producer_loc": 9}
    home = {"without_context_op": "Python", "without_context_loc": 3}
    (found,) = mixed_findings(tables(mixed(1, "take", "cpu:0", ["cpu:1"], 8, **label, **home)))
    assert found.evidence.row()["made_on_default"] == ["Python"]
    assert found.evidence.row()["made_on_default_at"] == ["mix.py:3"]
    assert because(found) == (
        "Inputs on cpu:0 were made by Python data at mix.py:3, or come from that. An array that is made"
        " without a context lies on the current one, cpu(0) by default."
    )


def test_what_came_of_the_same_array_is_the_same_mistake() -> None:
    weights = {"without_context_op": "Python", "without_context_loc": 3}
    other = {"without_context_op": "_zeros", "without_context_loc": 5}
    first, second = mixed_findings(
        tables(
            mixed(1, "take", "cpu:0", ["cpu:1"], 8, **weights),
            mixed(2, "broadcast_mul", "cpu:1", ["cpu:0"], 8, loc=9, **weights),
            mixed(3, "dot", "cpu:1", ["cpu:0"], 8, loc=11, **other),
        )
    )
    assert (first.site, first.evidence.row()["also_at"]) == ("mix.py:7", ["mix.py:9"])
    assert first.summary.endswith("So do ops at mix.py:9, with arrays that come from the same line.")
    assert (second.site, "also_at" in second.evidence.row()) == ("mix.py:11", False)


def test_lines_of_which_one_has_arrays_of_unknown_origin_stay_apart() -> None:
    weights = {"without_context_op": "Python", "without_context_loc": 3}
    run = tables(
        mixed(1, "take", "cpu:0", ["cpu:1"], 8, **weights),
        mixed(2, "dot", "cpu:1", ["cpu:0"], 8, loc=9, **weights),
        mixed(3, "dot", "cpu:1", ["cpu:2"], 8, loc=9),
    )
    assert [finding.site for finding in mixed_findings(run)] == ["mix.py:7", "mix.py:9"]


def test_errors_are_told_before_warnings() -> None:
    wait = Sync("cpu:1", "asnumpy", "mix.py:3", 30, 5, 1, "measured")
    run = tables(mixed(1, "dot", "cpu:1", ["cpu:2"], 1), steps=30)
    found = run_findings(run, [], [wait])
    assert [(row.code, row.severity) for row in found] == [
        ("mixed-context", "error"),
        ("host-sync", "warning"),
    ]


def test_devices_that_inputs_were_read_from_are_the_runs() -> None:
    assert tables(mixed(1, "dot", "cpu:1", ["cpu:2"], 1)).devices == ["cpu:1", "cpu:2"]
