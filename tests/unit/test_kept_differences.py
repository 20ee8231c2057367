"""Where two reports differ, told by the paths of their values."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.kept.differences import MEASURED, TEXTS, differences, in_order

REPORT: dict[str, Any] = {
    "steps": 3,
    "findings": [{"code": "bounce", "severity": "warning", "summary": "x goes to cpu:0", "hops": [0]}],
    "syncs": [{"site": "train.py:3", "wait_ns": 10}],
}


def changed(**values: Any) -> dict[str, Any]:
    return REPORT | values


@pytest.mark.parametrize(
    ("after", "found"),
    [
        (REPORT, []),
        (changed(steps=4), ["steps: 3 -> 4"]),
        (changed(steps=3.0), ["steps: 3 -> 3.0"]),
        (changed(steps=None), ["steps: 3 -> None"]),
        (changed(notes=[]), ["notes: only after"]),
        ({"steps": 3, "findings": REPORT["findings"]}, ["syncs: only before"]),
        (
            changed(findings=[REPORT["findings"][0] | {"severity": "info"}]),
            ["findings[0].severity: 'warning' -> 'info'"],
        ),
        (changed(findings=[]), ["findings: 1 rows -> 0 rows"]),
        (changed(findings=[REPORT["findings"][0] | {"hops": [1]}]), ["findings[0].hops[0]: 0 -> 1"]),
    ],
)
def test_each_value_that_differs_is_named(after: dict[str, Any], found: list[str]) -> None:
    assert list(differences(REPORT, after)) == found


def test_texts_and_measurements_can_be_left_out() -> None:
    worded = changed(findings=[REPORT["findings"][0] | {"summary": "x is copied to cpu:0"}])
    assert list(differences(REPORT, worded, TEXTS)) == []
    slower = changed(syncs=[{"site": "train.py:3", "wait_ns": 20}])
    assert list(differences(REPORT, slower, TEXTS)) == ["syncs[0].wait_ns: 10 -> 20"]
    assert list(differences(REPORT, slower, MEASURED)) == []


def test_rows_of_two_recordings_are_compared_in_one_order() -> None:
    one, other = {"code": "bounce", "hops": [0, 2]}, {"code": "host-sync", "hops": [1]}
    hop = {"src": "cpu:1", "wait_ns": 10}
    before = {"findings": [one, other], "hops": [hop]}
    after = {"findings": [other | {"hops": [0]}, one | {"hops": [1]}], "hops": [hop | {"wait_ns": 20}]}
    assert in_order(before, MEASURED) == in_order(after, MEASURED)
    gone = {"findings": [one], "hops": [hop]}
    assert list(differences(in_order(before), in_order(gone))) == ["findings: 2 rows -> 1 rows"]
