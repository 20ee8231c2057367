"""A collective of several processes is one, wherever and however often it was told."""

from __future__ import annotations

from typing import Any

from app.analysis.collectives import collective_table
from probes.trace.rows import Key
from tests.unit.test_analysis_report import process, tables

SECOND_PROCESS = 1 << 32
LINE = 3


def part(worker: int, number: int, count: int | None, **fields: Any) -> Key:
    """What a worker wrote of an all-reduce of two workers."""
    facts = {
        "op": "CollectiveReduceV2",
        "devices": [f"worker:{worker}/cpu:1"],
        "tensors": 1,
        "payload_bytes": 100,
        "wire_bytes": 200,
        "algorithm": "ring",
        "loc": LINE,
        "basis": "estimated",
        "graph": (SECOND_PROCESS if worker else 0) + 1,
        "per_call": 1,
        "members": 2,
        "group": "1:100",
    }
    return Key((SECOND_PROCESS if worker else 0) + number, "collective", facts | fields, count)


def rows(*keys: Key, devices: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], int | None, int | None]]:
    made = collective_table(tables(*keys, processes=[process(devices=devices)]))
    return [(row.devices, row.wire_bytes, row.count) for row in made]


BOTH = ("worker:0/cpu:1", "worker:1/cpu:1")


def test_parts_of_two_processes_are_one_collective_that_happened_as_often_as_either_says() -> None:
    # A worker that was killed in a step has not counted it.
    assert rows(part(0, 1, 7), part(1, 1, 6)) == [(BOTH, 200, 7)]
    assert rows(part(0, 1, 7), part(1, 1, None)) == [(BOTH, 200, None)]


def test_other_instances_at_the_same_line_add_up() -> None:
    again = {"group": "1:200"}
    assert rows(part(0, 1, 7), part(1, 1, 7), part(0, 2, 3, **again), part(1, 2, 3, **again)) == [
        (BOTH, 200, 10)
    ]


def test_eager_ones_are_told_apart_by_their_line() -> None:
    eager = {"group": "1", "graph": 0, "per_call": None}
    found = rows(part(0, 1, 4, **eager), part(1, 1, 4, **eager), part(0, 2, 1, **eager, loc=9))
    assert found == [(BOTH, 200, 4), (("worker:0/cpu:1",), 200, 1)]


def test_members_that_were_not_recorded_are_named_where_the_group_is_all_of_a_type() -> None:
    all_devices = ("worker:0/cpu:0", "worker:0/gpu:0", "worker:1/cpu:0", "worker:1/gpu:0")
    alone = part(0, 1, 5, devices=["worker:0/gpu:0"])
    assert rows(alone, devices=all_devices) == [(("worker:0/gpu:0", "worker:1/gpu:0"), 200, 5)]
    three = part(0, 1, 5, devices=["worker:0/gpu:0"], members=3)
    assert rows(three, devices=all_devices) == [(("worker:0/gpu:0",), 200, 5)]


def test_without_a_group_each_stays_what_it_is() -> None:
    assert len(rows(part(0, 1, 5, group=""), part(1, 1, 5, group=""))) == 2
    within_one = {"devices": ["cpu:1", "cpu:2"], "group": "1:100"}
    assert rows(part(0, 1, 5, **within_one)) == [(("cpu:1", "cpu:2"), 200, 5)]
