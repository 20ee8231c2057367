"""Findings against labels: what counts as found, false, inexact and wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.labelled.cases import Case, Label
from benchmarks.labelled.scoring import failed, score, score_report, totals
from probes.trace.guard import FAILED

SYNC = Label("a.py:5", "host-sync", "warning")
HOME = Label("a.py:7", "variable-home", "warning")
NOTE = Label("a.py:9", "host-upload", "info")
ALLOWED = Label("a.py:11", "bounce", "info", required=False)


def case(*labels: Label, may: tuple[str, ...] = ()) -> Case:
    return Case("a", "tensorflow", Path("a.py"), "", labels, may=may)


def told(code: str, line: int | None, severity: str = "warning") -> dict[str, Any]:
    site = None if line is None else f"a.py:{line}"
    return {"code": code, "site": site, "severity": severity, "summary": "said"}


def test_code_line_and_severity_make_a_label_found() -> None:
    one = score(case(SYNC, NOTE), [told("host-sync", 5), told("host-upload", 9, "info")])
    assert one.found == (SYNC, NOTE)
    assert one.reached
    assert (one.labels, one.warnings) == (2, 1)


def test_a_worse_severity_than_asked_for_is_found_and_not_false() -> None:
    one = score(case(NOTE), [told("host-upload", 9)])
    assert one.found == (NOTE,)
    assert one.false == ()


def test_a_milder_one_is_missed_but_neither_wrong_nor_inexact() -> None:
    one = score(case(SYNC), [told("host-sync", 5, "info")])
    (miss,) = one.missed
    assert miss.instead == ("info host-sync",)
    assert (one.wrong, one.inexact) == ((), ())


def test_another_code_at_the_line_is_a_wrong_cause_and_a_false_warning() -> None:
    one = score(case(HOME), [told("default-device", 7)])
    assert [miss.label for miss in one.wrong] == [HOME]
    assert [str(false) for false in one.false] == ["default-device a.py:7"]


def test_unknown_is_no_wrong_cause() -> None:
    one = score(case(HOME), [told("unknown", 7, "info"), told("host-upload", 7, "info")])
    assert [miss.label for miss in one.missed] == [HOME]
    assert one.wrong == ()


def test_the_right_code_at_another_line_is_inexact() -> None:
    one = score(case(SYNC), [told("host-sync", 6)])
    assert one.missed[0].elsewhere == ("a.py:6",)
    assert len(one.inexact) == 1
    assert not one.reached


def test_a_label_that_another_one_explains_is_not_inexact() -> None:
    other = Label("a.py:6", "host-sync", "warning")
    one = score(case(SYNC, other), [told("host-sync", 6)])
    assert [miss.label for miss in one.missed] == [SYNC]
    assert one.inexact == ()


def test_what_may_be_told_is_neither_wanted_nor_false() -> None:
    rows = [told("bounce", 11), told("unknown", None), told("host-upload", 3, "info")]
    one = score(case(ALLOWED, may=("unknown",)), rows)
    assert one.reached
    assert (one.labels, one.warnings) == (0, 2)


def test_a_finding_of_no_line_is_false_where_nothing_allows_it() -> None:
    assert [str(false) for false in score(case(), [told("unknown", None)]).false] == ["unknown no line"]


def test_sums_and_shares() -> None:
    scores = [
        score(case(SYNC, HOME), [told("host-sync", 5), told("host-sync", 6), told("variable-home", 7)]),
        score(case(SYNC), [told("host-sync", 6)]),
        failed(case(NOTE), "it ended with status 1"),
    ]
    sums = totals(scores, negative=["a"])
    assert (sums.cases, sums.negative, sums.reached, sums.failed) == (3, 3, 0, 1)
    assert (sums.labels, sums.found, sums.warnings, sums.false) == (4, 2, 4, 2)
    assert (sums.recall, sums.precision, sums.exact) == (0.5, 0.5, 2 / 3)


def test_shares_of_nothing_are_none() -> None:
    sums = totals([])
    assert (sums.recall, sums.precision, sums.exact) == (None, None, None)


def test_a_case_in_which_the_recorder_failed_is_a_failed_one() -> None:
    unseen = [{"what": "steps", "why": f"{FAILED}: KeyError: 3", "count": 1}]
    one = score_report(case(SYNC), {"findings": [told("host-sync", 5)], "unseen": unseen})
    assert (one.found, one.failure) == ((), f"steps: {FAILED}: KeyError: 3")
    assert score_report(case(SYNC), {"findings": [told("host-sync", 5)], "unseen": []}).reached
