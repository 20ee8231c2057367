"""Replicas that grow apart are an error only where nothing exchanges their gradients and it is measured."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from app.diagnosis.causes.replica_drift.cause import Check, checks_of, drift_findings, drifts
from app.diagnosis.registry import advice
from app.facts.tables import Tables
from probes.trace.rows import Event, Key, Location, Process

SITES = {line: Location(line, f"train.py:{line}", None, "/train.py", line, "main") for line in (3, 4, 7)}


def drift(number: int, what: str, parameter: str | None = None, **fields: Any) -> Key:
    facts = {"what": what, "devices": ["cpu:2", "cpu:1"], "parameters": 4, "parameter": parameter}
    return Key(number, "drift", facts | {"exchange": None, "loc": 7, "basis": "measured"} | fields, 1)


def event(ts: int, key: int, step: int | None, value: int | None) -> Event:
    return Event("drift", ts, 0, key, 1, step, value, 1, key >> 32)


def run(keys: list[Key], events: list[Event]) -> Tables:
    return Tables([], SITES, [], keys, [], events_of=lambda kind: events if kind == "drift" else [])


KEYS = [drift(1, "differing"), drift(2, "largest_ppb", "bias"), drift(3, "largest_ppb", "weight")]
GROWING = [
    event(10, 1, 0, 0),
    event(11, 2, 0, 0),
    event(20, 1, 10, 2),
    event(21, 2, 10, 300_000),
    event(30, 1, 20, 3),
    event(31, 3, 20, 120_000_000),
]


def test_the_comparisons_by_time() -> None:
    assert checks_of(reversed(GROWING), {key.id: key for key in KEYS}) == [
        Check(0, 4, 0, 0, "bias"),
        Check(10, 4, 2, 300_000, "bias"),
        Check(20, 4, 3, 120_000_000, "weight"),
    ]


def test_comparisons_without_steps_are_told_apart_by_their_figures() -> None:
    events = [event(ts, key, None, value) for ts, key, value in ((1, 1, 1), (2, 2, 5), (3, 1, 2), (4, 2, 9))]
    found = checks_of(events, {key.id: key for key in KEYS})
    assert [(check.differing, check.largest_ppb) for check in found] == [(1, 5), (2, 9)]


def test_replicas_that_grow_apart() -> None:
    (found,) = drift_findings(run(KEYS, GROWING))
    assert (found.code, found.severity, found.site, found.recurs) == (
        "replica-drift",
        "error",
        "train.py:7",
        True,
    )
    assert found.summary == (
        "The replicas on cpu:1 and cpu:2 drift apart: 3 of 4 parameters differ, by up to 12 % of the"
        " largest value (weight) at step 20, up from 0 at step 0; no gradients are exchanged between"
        " them at train.py:7."
    )
    assert found.evidence.row() == {
        "devices": ["cpu:1", "cpu:2"],
        "exchange": "none",
        "parameters": 4,
        "parameters_differing": 3,
        "parameter_with_the_largest_difference": "weight",
        "first_check_step": 0,
        "first_check_largest_difference_ppb": 0,
        "last_check_step": 20,
        "last_check_largest_difference_ppb": 120_000_000,
        "checks": 3,
    }
    words = advice(found.code, found.evidence) or ""
    assert "kvstore" in words and "allreduce_grads()" in words


def test_the_line_that_made_the_trainer_is_told() -> None:
    keys = [drift(key.id, key.fields["what"], key.fields["parameter"], made_loc=3) for key in KEYS]
    (found,) = drift_findings(run(keys, GROWING))
    assert found.evidence.row()["trainer_made_at"] == "train.py:3"
    assert found.summary.endswith(
        "no gradients are exchanged between them at train.py:7, by the trainer of train.py:3."
    )


def test_replicas_that_exchange_gradients_are_none_of_it() -> None:
    exchanging = [drift(key.id, key.fields["what"], exchange="kvstore device") for key in KEYS]
    assert drift_findings(run(exchanging, GROWING)) == []


def test_trainers_of_one_run_are_judged_apart() -> None:
    """GIVEN one that exchanges and one that does not, on the same devices THEN only the latter drifts."""
    exchanging = [drift(key.id + 10, key.fields["what"], exchange="kvstore local") for key in KEYS]
    later = [event(e.ts_ns + 100, e.key + 10, e.step, 0) for e in GROWING]
    (found,) = drift_findings(run([*KEYS, *exchanging], [*GROWING, *later]))
    assert found.evidence.row()["last_check_largest_difference_ppb"] == 120_000_000


@pytest.mark.parametrize(
    ("figures", "drifting"),
    [
        # (differing, largest in parts per billion) of each check
        ([(0, 0), (3, 5000)], True),
        ([(1, 2000), (1, 5000)], True),
        # They were apart at the first look already, and stay so.
        ([(4, 90_000_000), (4, 80_000_000)], True),
        # Nothing differs, or did and does not any more, or by rounding only.
        ([(0, 0), (0, 0)], False),
        ([(0, 0), (3, 90_000), (0, 0)], False),
        ([(0, 0), (4, 120)], False),
        # It came down from a difference that was not there before.
        ([(0, 0), (4, 9_000)], True),
        ([(1, 120), (4, 9_000), (4, 110)], False),
        # Equal again in between: averaged every so many steps.
        ([(0, 0), (4, 9_000), (0, 0), (4, 9_000)], False),
        # One look shows no growth.
        ([(4, 90_000_000)], False),
        ([], False),
    ],
)
def test_what_counts_as_drifting(figures: list[tuple[int, int]], drifting: bool) -> None:
    checks = [Check(step, 4, differing, ppb, "w") for step, (differing, ppb) in enumerate(figures)]
    assert drifts(checks) is drifting


def test_events_without_a_value_or_a_key_are_left_out() -> None:
    assert drift_findings(run(KEYS, [event(1, 1, 0, None), event(2, 77, 0, 5)])) == []
    assert drift_findings(run([], GROWING)) == []


TOWERS: dict[str, Any] = {"devices": ["gpu:0", "gpu:1"], "variables_locs": [3], "loc": 7}
OF_TOWERS = [
    drift(1, "differing", **TOWERS),
    drift(2, "largest_ppb", "w, of shape 3x4", **TOWERS),
    drift(3, "updates", **TOWERS),
    drift(4, "assigned", **TOWERS),
]
AFTER_1_AND_8 = [
    event(at + number, number, None, value)
    for at, values in ((10, (1, 20_000_000, 1)), (20, (2, 90_000_000, 8)))
    for number, value in enumerate(values, 1)
]


def test_towers_that_the_code_made_itself_are_told_by_their_updates() -> None:
    (found,) = drift_findings(run(OF_TOWERS, AFTER_1_AND_8))
    assert found.summary == (
        "The replicas on gpu:0 and gpu:1 drift apart: 2 of 4 parameters differ, by up to 9 % of the largest"
        " value (w, of shape 3x4) after 8 updates, up from 2 % after 1 update; no gradients are exchanged"
        " between them at train.py:7."
    )
    assert found.evidence.row()["variables_made_at"] == "train.py:3"
    assert (found.evidence.row()["first_check_updates"], found.evidence.row()["last_check_updates"]) == (1, 8)
    assert found.fix and "MirroredStrategy" in found.fix


def test_the_line_of_the_worst_variable_is_told_first() -> None:
    """GIVEN a bias that was the worst at first, and a kernel that is at the end."""
    kernel = [
        drift(key.id + 10, key.fields["what"], **{**TOWERS, "variables_locs": [4, 3]}) for key in OF_TOWERS
    ]
    later = [event(e.ts_ns, e.key + 10, None, e.value) if e.ts_ns > 20 else e for e in AFTER_1_AND_8]
    (found,) = drift_findings(run([*OF_TOWERS, *kernel], later))
    assert found.evidence.row()["variables_made_at"] == ["train.py:4", "train.py:3"]


def test_copies_of_mxnet_are_advised_one_trainer() -> None:
    process = Process(0, 1, "main", "mxnet", "1.9", None, None, 0, 0, [], {}, True, {})
    tables = run(OF_TOWERS, AFTER_1_AND_8)
    (found,) = drift_findings(dataclasses.replace(tables, processes=[process]))
    assert found.fix and "one gluon.Trainer" in found.fix


def test_towers_that_something_else_is_assigned_to_do_not_drift() -> None:
    assert drift_findings(run(OF_TOWERS, [*AFTER_1_AND_8, event(30, 4, None, 1)])) == []
