"""Variables of MXNet's code that live on the host and are copied for a card, as autograd records."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table
from app.diagnosis.registry import because
from app.facts.tables import Tables
from app.judgments.finding import Finding
from probes.trace.rows import Key, Location
from tests.unit.traces import hop_fields

SITES = {
    number: Location(number, f"train.py:{line}", None, "/src/train.py", line, "main")
    for number, line in ((1, 6), (2, 24), (3, 30), (4, 33))
}
STEPS = Key(90, "mark", {"name": "step"}, 18)
TOLD = {"copy_call": "as_in_context", "variable": "items", "autograd_copies": True}


def copied(number: int = 1, dst: str = "cpu:1", count: int = 18, **more: Any) -> Key:
    """The host's variable goes to a card at line 24, as it was updated at line 33."""
    fields: dict[str, Any] = {
        "op": "_copyto",
        "loc": 2,
        "producer_op": "sgd_update",
        "producer_loc": 4,
        "tensor": "sgd_update:0",
        "variable_loc": 1,
        "bytes": 10240,
        "shape": "40x64",
        "requested": dst,
        "facts": TOLD,
    }
    return Key(number, "hop", hop_fields("cpu:0", dst, **fields | more), count)


def back(count: int = 18, **more: Any) -> Key:
    """Its gradient comes back, where line 30 asks for the backward pass."""
    fields: dict[str, Any] = {
        "op": "sgd_update (backward)",
        "loc": 3,
        "forward_loc": 2,
        "producer_op": "_copyto (backward)",
        "bytes": 10240,
        "shape": "40x64",
        "facts": {"copy_call": "the backward pass of a copy", "within": "backward"},
    }
    return Key(20, "hop", hop_fields("cpu:1", "cpu:0", **fields | more), count)


def again(of: Key, count: int) -> Key:
    names = ("graph", "tensor", "src", "dst", "loc", "producer_loc", "shape", "dtype")
    return Key(40, "again", {name: of.fields.get(name) for name in names}, count)


def told(*keys: Key) -> list[Finding]:
    tables = Tables([], SITES, [], [*keys, STEPS], [])
    return run_findings(tables, hop_table(tables), ())


def test_a_variable_that_is_copied_to_be_used_is_told_with_its_gradient() -> None:
    """Bug: all of a table went to the card in each step, and its gradient back, told as two notes."""
    (found,) = told(copied(), back())
    assert (found.code, found.severity, found.site) == ("variable-home", "warning", "train.py:24")
    assert found.summary == (
        "items lives on cpu:0 and is read on cpu:1 at train.py:24: 20 KiB each step, with its gradient's way"
        " back."
    )
    assert because(found) == (
        "The variable lives on cpu:0, created at train.py:6; what reads it was requested on cpu:1."
    )
    assert found.fix == (
        "Keep it on cpu:1, if it fits into that memory: name that context where it is initialized or made."
        " Where a step uses few of its rows, look these up on cpu:0, by Embedding or take, and copy them"
        " instead."
    )


def test_that_the_same_values_go_twice_in_a_step_is_said_in_the_same_finding() -> None:
    """Bug: values that the first step made elsewhere left the copies of the others one short of each step."""
    first = copied(2, count=2, producer_loc=1, tensor="_copyto:0", producer_op="_copyto")
    other = copied(count=34)
    (found,) = told(first, other, again(other, 17))
    assert found.code == "variable-home"
    assert found.evidence.row().get("unchanged_again")
    (once,) = told(first, other, again(other, 3))
    assert not once.evidence.row().get("unchanged_again")


def test_what_several_cards_read_is_kept_on_each() -> None:
    (found,) = told(copied(), copied(2, "cpu:2"))
    assert found.fix is not None and found.fix.startswith(
        "Keep one on each of cpu:1 and cpu:2, as initialize("
    )


def test_one_without_a_name_is_a_variable() -> None:
    (found,) = told(copied(facts=TOLD | {"variable": ""}))
    assert found.summary.startswith("A variable lives on cpu:0 and is read on cpu:1 at train.py:24: 10 KiB")


@pytest.mark.parametrize("more", [{"bytes": 64}, {"count": 2}])
def test_a_few_values_and_what_happens_seldom_are_notes(more: dict[str, Any]) -> None:
    (found,) = told(copied(**more))
    assert (found.code, found.severity) == ("variable-home", "info")


def test_gradients_of_other_copies_of_the_line_are_told_apart() -> None:
    found = told(copied(), back(), Key(21, "hop", back(shape="8x64").fields, 18))
    assert [one.code for one in found] == ["variable-home", "explicit"]


def test_what_autograd_does_not_see_copied_is_as_the_code_wants_it() -> None:
    (found,) = told(copied(facts={"copy_call": "as_in_context"}))
    assert (found.code, found.severity) == ("explicit", "info")
