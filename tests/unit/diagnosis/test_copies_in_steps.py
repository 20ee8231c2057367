"""Copies of one array, unchanged, in a loop inside of each step."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table
from app.facts.tables import Tables
from probes.trace.rows import Key, Location
from tests.unit.traces import hop_fields

SITES = {1: Location(1, "train.py:9", None, "/src/train.py", 9, "main")}
COPIED: dict[str, Any] = {
    "op": "_copyto",
    "loc": 1,
    "producer_op": "FullyConnected",
    "producer_loc": 1,
    "bytes": 49152,
    "facts": {"copy_call": "as_in_context"},
}
SAME = ("graph", "tensor", "src", "dst", "loc", "producer_loc", "shape", "dtype")


@pytest.mark.parametrize(
    ("again", "steps", "told"),
    [
        (50, 10, ("redundant-copy", "warning")),
        (30, 10, ("redundant-copy", "warning")),
        (20, 10, ("explicit", "info")),  # most of the copies are of another array each
        (30, 40, ("explicit", "info")),  # not in each step
        (50, 0, ("explicit", "info")),  # without steps, not known to be wanted in each
        (59, 0, ("redundant-copy", "warning")),
    ],
)
def test_an_array_of_the_step_that_goes_for_each_word_goes_too_often(
    again: int, steps: int, told: tuple[str, str]
) -> None:
    fields = hop_fields("cpu:1", "cpu:2", **COPIED)
    keys = [
        Key(1, "hop", fields, 60),
        Key(2, "again", {name: fields.get(name) for name in SAME}, again),
        *([Key(3, "mark", {"name": "step"}, steps)] if steps else []),
    ]
    run = Tables([], SITES, [], keys, [])
    (one,) = run_findings(run, hop_table(run), ())
    assert (one.code, one.severity) == told
