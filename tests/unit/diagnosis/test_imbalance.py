"""Devices that share the work far from equally, and uploads that hold the run up."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.causes.unbalanced.cause import balance_findings
from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table
from app.facts.tables import Tables
from app.store.totals import KeyTotals
from probes.trace.rows import Key, Location, Process
from tests.unit.traces import hop_fields

GIB = 1 << 30
LOCATIONS = {1: Location(1, "train.py:9", None, "/src/train.py", 9, "main")}
SCRIPT = {"kind": "script", "devices": ["gpu:2", "gpu:3"], "device_map": {"gpu:0": {}, "gpu:1": {}}}


def tables(*keys: Key, totals: dict[int, KeyTotals] | None = None) -> Tables:
    process = Process(
        0, 1, "main", "tensorflow", None, None, None, 0, 0, ["cpu:0", "gpu:0", "gpu:1"], {}, True, {}
    )
    return Tables([process], LOCATIONS, [], list(keys), [], totals or {})


def op(number: int, device: str) -> Key:
    return Key(number, "op", {"op": "MatMul", "device": device, "loc": 1}, 5)


def memory(number: int, device: str, basis: str = "measured") -> Key:
    return Key(number, "memory", {"device": device, "what": "peak", "basis": basis}, 1)


def peaks(**bytes_by_number: int) -> dict[int, KeyTotals]:
    return {int(name[1:]): KeyTotals(1, 1, 0, 0, value) for name, value in bytes_by_number.items()}


def test_a_card_that_a_script_was_given_and_left_is_told() -> None:
    (found,) = balance_findings(SCRIPT, tables(op(1, "gpu:0"), op(2, "cpu:0")))
    assert (found.code, found.severity) == ("unbalanced", "warning")
    assert found.summary == "gpu:1 was given to the script and ran nothing; all its ops ran on gpu:0."


@pytest.mark.parametrize(
    ("spec", "devices"),
    [
        (SCRIPT, ("gpu:0", "gpu:1")),
        # A script that uses none of them is told by its findings, and one that was given none chose itself.
        (SCRIPT, ("cpu:0",)),
        ({**SCRIPT, "devices": None}, ("gpu:0",)),
        ({**SCRIPT, "kind": "program"}, ("gpu:0",)),
    ],
)
def test_cards_that_nobody_named_may_stay_idle(spec: dict[str, Any], devices: tuple[str, ...]) -> None:
    assert (
        balance_findings(spec, tables(*(op(number, device) for number, device in enumerate(devices, 1))))
        == []
    )


@pytest.mark.parametrize(
    ("fuller", "emptier", "basis", "told"),
    [
        (8 * GIB, GIB, "measured", True),
        (3 * GIB, GIB, "measured", False),
        (8 << 20, 1 << 20, "measured", False),
        # An estimate beside a measured figure says nothing.
        (8 * GIB, GIB, "estimated", False),
    ],
)
def test_memory_far_apart(fuller: int, emptier: int, basis: str, told: bool) -> None:
    keys = op(1, "gpu:0"), op(2, "gpu:1"), memory(3, "gpu:0"), memory(4, "gpu:1", basis)
    found = balance_findings({}, tables(*keys, totals=peaks(k3=fuller, k4=emptier)))
    assert [one.summary for one in found] == (
        ["gpu:0 held up to 8 GiB and gpu:1 no more than 1 GiB (measured): the fuller one limits how large"
         " the run can be."] if told else []
    )  # fmt: skip


@pytest.mark.parametrize(("taken", "severity"), [(300_000, "warning"), (100_000, "info")])
def test_uploads_that_take_a_good_part_of_the_run_are_a_warning(taken: int, severity: str) -> None:
    upload = Key(1, "hop", hop_fields("cpu:0", "cpu:1", kind="upload", producer_op="Python", loc=1), 100)
    steps = Key(2, "mark", {"name": "step"}, 100)
    totals = {
        1: KeyTotals(100, 100, taken, 100, None, 0, 1_000_000),
        2: KeyTotals(100, 100, 0, 0, None, 0, 1_000_000),
    }
    run = tables(upload, steps, totals=totals)
    (found,) = run_findings(run, hop_table(run), [])
    assert (found.code, found.severity) == ("host-upload", severity)
    assert ("30 % of the run (measured)" in found.summary) == (severity == "warning")
