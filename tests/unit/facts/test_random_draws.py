"""Random numbers that the code draws on the default device, which uses them nowhere."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table
from app.facts.tables import Tables
from app.facts.transfers.origins import drawn, is_draw
from probes.trace.rows import Key, Location
from tests.unit.traces import hop_fields

LOCATIONS = {
    1: Location(1, "noise.py:5", "tensorflow/python/util/traceback_utils.py:error_handler", "", 5, ""),
    2: Location(2, "train.py:9", None, "", 9, ""),
    3: Location(3, "noise.py:5", "tensorflow/python/ops/stateful_random_ops.py:normal", "", 5, ""),
}
NORMAL = {"RandomStandardNormal": 20, "Mul": 20, "AddV2": 20}


def run_of(ops: dict[str, int], loc: int = 1, count: int = 20, **given: Any) -> Tables:
    """A function that runs on cpu:1 is given what the last of the ops made at noise.py:5."""
    keys = [
        Key(number, "op", {"op": op, "device": "cpu:0", "loc": loc}, times)
        for number, (op, times) in enumerate(ops.items(), 10)
    ]
    made: dict[str, Any] = {"producer_op": list(ops)[-1], "producer_loc": loc, "bytes": 4096}
    taken: dict[str, Any] = {"kind": "arg", "loc": 2, "graph": 3, "requested": "cpu:1", "per_call": 1}
    keys += [
        Key(1, "hop", hop_fields("cpu:0", "cpu:1", **made | taken | given), count),
        Key(2, "mark", {"name": "step"}, 20),
    ]
    return Tables([], LOCATIONS, [], keys, [])


def told(run: Tables) -> list[tuple[str, str, str | None]]:
    return [(one.code, one.severity, one.site) for one in run_findings(run, hop_table(run), [])]


@pytest.mark.parametrize(
    ("ops", "loc"),
    [
        (NORMAL, 1),
        ({"StatelessRandomUniformV2": 20}, 1),
        ({"StatelessRandomNormalV2": 20, "AddV2": 40, "Mul": 60}, 3),
    ],
    ids=["normal", "stateless", "inside-a-generator"],
)
def test_numbers_drawn_on_the_host_for_a_card_in_each_step_are_a_warning(
    ops: dict[str, int], loc: int
) -> None:
    """Bug: a note only, as for data that the host has to give."""
    assert told(run_of(ops, loc)) == [("default-device", "warning", "noise.py:5")]


@pytest.mark.parametrize(
    ("run", "code"),
    [
        (run_of({"IteratorGetNext": 20}), "colocation"),
        (run_of({"DecodePng": 20, "Cast": 20}), "default-device"),
        # What is added to a batch of the host's may be no more than noise on it.
        (run_of(NORMAL | {"AddV2": 40}), "default-device"),
        (run_of(NORMAL | {"GatherV2": 20}), "default-device"),
        (run_of(NORMAL, bytes=32), "default-device"),
        (run_of(NORMAL, count=1), "default-device"),
        (run_of({"RandomUniformInt": 20}, dtype="int32"), "default-device"),
    ],
    ids=["iterator", "decoded", "on-a-batch", "rows-at-random", "tiny", "once", "int32"],
)
def test_what_the_host_has_to_give_and_what_no_scope_spares_stays_a_note(run: Tables, code: str) -> None:
    assert [(one, severity) for one, severity, _ in told(run)] == [(code, "info")]


def test_a_constant_that_goes_with_each_call_is_told_with_the_line_that_makes_it() -> None:
    run = run_of({"Const": 20})
    same = {name: run.keys[1].fields[name] for name in ("graph", "tensor", "src", "dst")}
    run = dataclasses.replace(run, keys=[*run.keys, Key(9, "again", same, 19)])
    (one,) = run_findings(run, hop_table(run), [])
    assert (one.code, one.severity, one.site) == ("redundant-copy", "warning", "train.py:9")
    assert (one.fix or "").endswith("and use the copy; or make it there, at noise.py:5.")


def test_a_shuffle_and_a_call_draw_nothing() -> None:
    names = ("StatefulPartitionedCall", "StatelessIf", "RandomShuffle", "RandomGamma", "RandomDataset")
    assert not any(map(is_draw, names))
    assert all(map(is_draw, ("RandomUniform", "StatelessTruncatedNormalV2", "StatefulUniformInt")))
    assert drawn(run_of({"RandomShuffle": 20})) == frozenset()
