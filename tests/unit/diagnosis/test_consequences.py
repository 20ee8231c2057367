"""What a line without a scope leaves on the default device goes back to variables: the same mistake's."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table, told_hops
from app.diagnosis.registry import because
from app.diagnosis.row_shares import all_of
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.judgments.finding import Finding
from probes.trace.rows import Key, Location
from tests.unit.traces import hop_fields

LOCATIONS = {
    number: Location(number, f"train.py:1{number}", None, "/src/train.py", 10 + number, "main")
    for number in (1, 2)
}
STEPS = Key(90, "mark", {"name": "step"}, 8)
FETCHED: dict[str, Any] = {"op": "Sub", "assigned": "cpu:0", "loc": 1, "facts": {"variable": "m"}}
PUT_BACK: dict[str, Any] = {
    "op": "AssignSubVariableOp",
    "loc": 1,
    "producer_op": "Mul",
    "producer_loc": 1,
    "facts": {"works_on": "m"},
}


def told(*hops: Key) -> tuple[list[Finding], list[Hop]]:
    run = Tables(keys=[*hops, STEPS], processes=[], locations=LOCATIONS, graphs=[], unseen=[])
    table = hop_table(run)
    return run_findings(run, table, []), table


def fetched(number: int = 1, src: str = "cpu:1", **more: Any) -> Key:
    return Key(number, "hop", hop_fields(src, "cpu:0", **FETCHED | more), 8)


def put_back(count: int = 8, dst: str = "cpu:1", **more: Any) -> Key:
    return Key(3, "hop", hop_fields("cpu:0", dst, **PUT_BACK | more), count)


def test_what_goes_back_to_the_variable_is_of_the_line_that_lacks_a_scope() -> None:
    """Bug: a warning told one half of it, a note without advice the other."""
    (one,), hops = told(fetched(), put_back())
    assert (one.code, one.severity, one.hops, one.consequences) == ("default-device", "warning", (0,), (1,))
    assert one.summary.endswith(": 200 B each step, with what goes back to variables on cpu:1.")
    assert one.evidence.row()["bytes"] == one.bytes_known == 8 * 200
    assert [hop.code for hop in told_hops(hops, [one])] == ["default-device", "default-device"]
    assert [hop.keys for hop in all_of(one, hops)] == [(1,), (3,)]


@pytest.mark.parametrize(
    "hops",
    [
        (fetched(), put_back(producer_loc=2)),
        (fetched(), put_back(producer_op="ReadVariableOp")),
        (fetched(), put_back(producer_requested="cpu:0")),
        (fetched(), put_back(count=1)),
        (fetched(), put_back(dst="cpu:2")),
        (fetched(), fetched(2, "cpu:2"), put_back()),
        (fetched(bytes=4), put_back()),
    ],
    ids=["made-elsewhere", "variable", "placed", "once", "another-card", "two-cards", "a-note"],
)
def test_what_a_scope_at_the_line_need_not_spare_stays_a_note(hops: tuple[Key, ...]) -> None:
    findings, _ = told(*hops)
    assert len({one.code for one in findings}) == 2
    assert not any(one.consequences for one in findings)


FIT, TAPE = "keras/src/utils/traceback_utils.py:error_handler", "tensorflow/python/eager/backprop.py:gradient"


def told_of(via: str, *hops: Key) -> list[Finding]:
    """Line 13 asks for gradients of what line 12 puts on cpu:2, in a scope of cpu:1 or none."""
    sites = LOCATIONS | {3: Location(3, "train.py:13", via, "/src/train.py", 13, "main")}
    run = Tables(keys=[*hops, STEPS], processes=[], locations=sites, graphs=[], unseen=[])
    return run_findings(run, hop_table(run), [])


def gradient(card: str = "cpu:2", there: str = "cpu:1") -> Key:
    facts = {"forward_requested": card, "called_on": there, "forward_op": "Square"}
    known: dict[str, Any] = {"op": "Mul", "loc": 3, "producer_requested": card, "assigned": there}
    return Key(5, "hop", hop_fields(card, there, **known, forward_loc=2, facts=facts), 8)


def test_what_gradients_outside_their_scope_change_is_of_their_finding() -> None:
    """Bug: the larger part was a note, told as kept beside the variable together with the iterator's."""
    beside = {"colocated_with": "kernel", "called_on": "cpu:1", "producer_called_on": "cpu:1"}
    update: dict[str, Any] = {"op": "AssignSubVariableOp", "loc": 3, "producer_op": "Mul", "producer_loc": 3}
    batch: dict[str, Any] = {"op": "MatMul", "loc": 2, "producer_op": "IteratorGetNext", "producer_loc": 3}
    found = told_of(
        FIT,
        gradient(),
        Key(6, "hop", hop_fields("cpu:1", "cpu:2", **update, facts=beside, bytes=4096, assigned="cpu:2"), 8),
        Key(7, "hop", hop_fields("cpu:1", "cpu:2", **batch, requested="cpu:2", bytes=500), 8),
    )
    assert [(one.code, one.site, one.rows, one.evidence.row()["bytes"]) for one in found] == [
        ("gradient-outside-scope", "train.py:13", (0, 1), 8 * (100 + 4096)),
        ("colocation", "train.py:13", (2,), 8 * 500),
    ]
    assert "with what goes back to variables on cpu:2" in found[0].summary
    assert found[1].summary.startswith(
        "IteratorGetNext at train.py:13 runs beside the input pipeline's iterator"
    )


def test_gradients_that_are_where_they_belong_are_told_beside_those_that_are_not() -> None:
    """Bug: of a line whose gradients belong to two devices only one was known, and its scope proposed."""
    asked: dict[str, Any] = {"device": "cpu:1", "loc": 3, "forward_loc": 2}
    ops = [
        Key(20, "op", {"op": "Mul", **asked, "forward_requested": "cpu:2"}, 8),
        Key(21, "op", {"op": "Sum", **asked, "forward_requested": "cpu:1"}, 8),
    ]
    (one,) = told_of(TAPE, gradient(), *ops)
    assert one.evidence.row()["gradients_of"] == ["cpu:1", "cpu:2"]
    assert because(one).endswith("where the function is called, cpu:1.")
    (alone,) = told_of(TAPE, gradient(), ops[0])
    assert "gradients_of" not in alone.evidence.row() and because(alone).endswith("is called, cpu:1.")


def test_gradients_in_a_scope_of_their_own_that_read_a_variable_are_told_at_their_line() -> None:
    """Bug: the variable was to be created where its gradient is computed, away from what uses it."""
    facts = {"forward_requested": "cpu:2", "variable": "w", "forward_op": "MatMul"}
    fields: dict[str, Any] = {"op": "MatMul", "loc": 3, "forward_loc": 2, "requested": "cpu:1", "bytes": 4096}
    (one,) = told_of(TAPE, Key(6, "hop", hop_fields("cpu:2", "cpu:1", **fields, facts=facts), 8))
    assert (one.code, one.site) == ("gradient-outside-scope", "train.py:13")
    assert because(one) == (
        "The forward ops at train.py:12 were requested on cpu:2; their gradients were requested on cpu:1."
    )


def own_ops() -> list[Key]:
    """Gradients of cpu:1 on the host, and the Identities that tf.recompute_grad puts around them."""
    out: dict[str, Any] = {"op": "Identity", "loc": 3, "producer_op": "AddV2", "producer_loc": 2}
    back: dict[str, Any] = {"op": "MatMul", "loc": 2, "producer_op": "Identity", "producer_loc": 3}
    return [
        gradient("cpu:1", "cpu:0"),
        Key(6, "hop", hop_fields("cpu:1", "cpu:0", **out, producer_requested="cpu:1", bytes=4000), 8),
        Key(7, "hop", hop_fields("cpu:0", "cpu:1", **back, requested="cpu:1", bytes=3000), 8),
    ]


def test_what_is_no_ops_gradient_where_gradients_lack_a_scope_lacks_the_same() -> None:
    """Bug: one missing scope was two warnings at one line."""
    (one,) = told_of(TAPE, *own_ops())
    assert (one.code, one.severity, one.hops, one.consequences) == (
        "gradient-outside-scope",
        "warning",
        (0,),
        (1, 2),
    )
    assert one.evidence.row()["bytes"] == 8 * (100 + 4000 + 3000)
    assert "variables" not in one.summary


def test_ops_without_a_scope_at_the_line_of_a_librarys_loop_may_have_reasons_of_their_own() -> None:
    assert {one.code for one in told_of(FIT, *own_ops())} == {"gradient-outside-scope", "default-device"}
