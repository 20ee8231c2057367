"""What a line without a scope leaves on the default device goes back to variables: the same mistake's."""

from __future__ import annotations

from typing import Any

import pytest

from app.analysis.finding import Finding
from app.analysis.findings import run_findings
from app.analysis.hops import Hop, hop_table
from app.analysis.shares import all_of
from app.analysis.tables import Tables
from app.analysis.told import told_hops
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
    assert one.evidence["bytes"] == one.bytes_known == 8 * 200
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
