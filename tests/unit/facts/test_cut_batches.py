"""Cuts of what lies on the host into parts for several devices: nothing that needs a change."""

from __future__ import annotations

from typing import Any

from app.diagnosis.judge import judge
from app.facts.tables import Tables
from app.facts.transfers.origins import cut_batches
from app.facts.transfers.transfer import Context
from probes.trace.rows import Key
from tests.unit.traces import hop_fields


def part(dst: str, src: str = "cpu:0", **fields: Any) -> dict[str, Any]:
    """A half of a batch that line 7 splits, taken at line 12 in a scope."""
    made: dict[str, Any] = {"producer_op": "Split", "producer_loc": 7, "loc": 12, "graph": 3, "bytes": 640}
    return hop_fields(src, dst, requested=dst, **(made | fields))


def tables(*hops: dict[str, Any]) -> Tables:
    made = [Key(number, "hop", fields, 20) for number, fields in enumerate(hops, 1)]
    return Tables([], {}, [], made, [], events_of=lambda kind: [])


HALVES = part("cpu:1"), part("cpu:2")


def test_halves_for_two_devices() -> None:
    assert cut_batches(tables(*HALVES)) == {(3, 7)}


def test_a_part_for_one_device_may_as_well_be_cut_there() -> None:
    assert cut_batches(tables(HALVES[0])) == frozenset()


def test_what_came_from_a_device_to_be_cut_is_not_the_hosts() -> None:
    came = hop_fields("cpu:1", "cpu:0", loc=7, graph=3, op="Split")
    assert cut_batches(tables(came, *HALVES)) == frozenset()


def test_what_a_device_cuts_is_not_the_hosts() -> None:
    assert cut_batches(tables(part("gpu:1", "gpu:0"), part("gpu:2", "gpu:0"))) == frozenset()


def test_what_is_made_for_two_devices_is_no_cut() -> None:
    assert cut_batches(tables(*(half | {"producer_op": "Mul"} for half in HALVES))) == frozenset()


def test_it_is_no_warning() -> None:
    devices = frozenset({"cpu:0", "cpu:1", "cpu:2"})
    contexts = [
        Context(devices, rounds=20, cut_batches=cuts) for cuts in (frozenset(), cut_batches(tables(*HALVES)))
    ]
    told = [judge(HALVES[0], context, 20) for context in contexts]
    assert [(one.code, one.severity) for one in told] == [
        ("default-device", "warning"),
        ("default-device", "info"),
    ]
    assert told[1].evidence.row()["cut_on_host"] == "cpu:0"
