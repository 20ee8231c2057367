"""What a standstill is made of, and who stood idle meanwhile."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table
from app.diagnosis.wording.transfer_costs import standstill, waited
from app.facts.syncs import Idle, Sync, sync_table, with_stalls
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.store.totals import KeyTotals
from probes.trace.rows import Graph, Key, Location, Node, Process
from tests.unit.traces import hop_fields

LOCATIONS = {n: Location(n, f"train.py:{n}", None, "/src/train.py", n, "main") for n in range(1, 9)}
STEPS = Key(90, "mark", {"name": "step"}, 10)


def process(**header: Any) -> Process:
    devices = ["cpu:0", "cpu:1", "cpu:2", "gpu:0"]
    return Process(0, 1, "main", "tensorflow", None, None, None, 0, 0, devices, {}, True, header)


def tables(*keys: Key, events: Sequence[tuple[int, int]] = (), **parts: Any) -> Tables:
    facts: dict[str, Any] = {"processes": [process()], "locations": LOCATIONS, "graphs": [], "unseen": []}
    return Tables(keys=list(keys), first_events=lambda kinds, limit: list(events)[:limit], **(facts | parts))


def sync(number: int, device: str = "cpu:1", count: int = 10, **fields: Any) -> Key:
    facts = {"device": device, "kind": "numpy", "loc": 3, "basis": "measured", "bytes": 1000}
    return Key(number, "sync", facts | fields, count)


def stalls(run: Tables, hops: Sequence[Hop] = ()) -> list[Sync]:
    return with_stalls(sync_table(run), run, hops)


COPIES = process(host_copy={"bytes": 1 << 20, "ns": 1 << 19})
"""Half a nanosecond a byte."""


@pytest.mark.parametrize(
    ("stood", "expected"),
    [
        (8000, (3000, 5000, "estimated")),
        # No more than all of it.
        (4000, (0, 4000, "estimated")),
    ],
)
def test_copying_in_host_memory_is_estimated_from_a_timed_copy(
    stood: int, expected: tuple[int, int, str]
) -> None:
    run = tables(sync(1), processes=[COPIES], totals={1: KeyTotals(10, 10, stood, 10)})
    (row,) = stalls(run)
    assert (row.wait_ns, row.copy_ns, row.split_basis) == expected
    assert (row.stood_ns, row.basis) == (stood, "measured")


def test_a_split_that_was_measured_stays() -> None:
    key = sync(1, split=True)
    run = tables(key, processes=[COPIES], totals={1: KeyTotals(10, 10, 8000, 10, value_sum=700)})
    (row,) = stalls(run)
    assert (row.wait_ns, row.copy_ns, row.split_basis) == (7300, 700, "measured")


@pytest.mark.parametrize(("seconds", "expected"), [(2e-7, (6000, 2000)), (None, (8000, None))])
def test_copying_from_a_card_is_estimated_from_the_machines_copies(
    seconds: float | None, expected: tuple[int, int | None]
) -> None:
    """GIVEN no measured copies between card and host THEN the wait is not split by the host's own speed."""
    pull = {"kind": "pull", "op": "Python", "consumers": ["numpy"], "loc": 3}
    keys = sync(1, "gpu:0"), Key(2, "hop", hop_fields("gpu:0", "cpu:0", **pull), 10)
    run = tables(*keys, processes=[COPIES], totals={1: KeyTotals(10, 10, 8000, 10)})
    (hop,) = hop_table(run)
    (row,) = stalls(run, [Hop(**{**vars(hop), "seconds": seconds})])
    assert (row.wait_ns, row.copy_ns) == expected


@pytest.mark.parametrize(("count", "step_ns"), [(10, 800), (30, 800), (9, None)])
def test_a_wait_of_every_step_has_its_part_of_one(count: int, step_ns: int | None) -> None:
    run = tables(sync(1, count=count), STEPS, totals={1: KeyTotals(count, count, 8000, count)})
    assert [row.step_ns for row in stalls(run)] == [step_ns]


def op(number: int, device: str) -> Key:
    return Key(number, "op", {"op": "dot", "device": device, "loc": 1}, 10)


def test_a_device_without_work_stood_idle() -> None:
    """GIVEN cpu:2 gets work before the second wait, and is never waited for THEN it was idle in the first.

    gpu:0 gets none at all.
    """
    run = tables(
        sync(1, count=3),
        op(2, "cpu:1"),
        op(3, "cpu:2"),
        events=[(2, 0), (1, 600), (3, 0), (2, 0), (1, 300), (1, 100)],
        totals={1: KeyTotals(3, 3, 1000, 3)},
    )
    (row,) = stalls(run)
    assert row.idle == (Idle("cpu:2", 0.6),)
    assert row.row()["idle"] == [{"device": "cpu:2", "share": 0.6}]


def test_a_device_that_python_waited_for_has_nothing_left() -> None:
    waits = sync(1, count=1), sync(2, "cpu:2", count=1, loc=4), sync(4, "", count=1, loc=5, kind="waitall")
    totals = {number: KeyTotals(1, 1, 100, 1) for number in (1, 2, 4)}
    run = tables(*waits, op(3, "cpu:2"), op(5, "cpu:1"), totals=totals, processes=[])
    done = [(3, 0), (5, 0), (1, 100), (2, 100)]
    found = {row.site: row.idle for row in stalls(Tables(**{**vars(run), "first_events": lambda *_: done}))}
    assert found["train.py:3"] == ()
    assert found["train.py:4"] == (Idle("cpu:1", 1.0),)
    done = [(3, 0), (4, 50), (1, 100)]
    found = {row.site: row.idle for row in stalls(Tables(**{**vars(run), "first_events": lambda *_: done}))}
    assert found["train.py:3"] == (Idle("cpu:2", 1.0),)
    assert found["train.py:5"] == ()


def test_a_graphs_call_gives_work_to_the_devices_that_it_is_placed_on() -> None:
    nodes = [Node(7, 1, "a", "MatMul", "", "cpu:1", 1, 0), Node(7, 2, "b", "MatMul", "", "cpu:2", 1, 0)]
    call = Key(2, "call", {"graph": 7, "function": "step", "loc": 1}, 1)
    run = tables(
        sync(1, count=2),
        call,
        events=[(1, 100), (2, 50), (1, 100)],
        graphs=[Graph(7, "step", "__inference_step_1", 1, 1, None, 1)],
        nodes_of=lambda graph: nodes,
        totals={1: KeyTotals(2, 2, 200, 2)},
    )
    assert [row.idle for row in stalls(run)] == [(Idle("cpu:2", 0.5),)]


@pytest.mark.parametrize(
    ("stood", "told"),
    [
        (50_000, "50 µs waited (measured), of it 5 µs copying (estimated)"),
        # So little copying is nothing that a reader could act on.
        (8_000_000, "8 ms waited (measured)"),
    ],
)
def test_a_finding_tells_the_split_and_who_stood_idle(stood: int, told: str) -> None:
    pull = {"kind": "pull", "op": "Python", "consumers": ["numpy"], "loc": 3, "facts": {"sync": "numpy"}}
    run = tables(
        sync(1),
        Key(2, "hop", hop_fields("cpu:1", "cpu:0", bytes=1000, **pull), 10),
        op(3, "cpu:2"),
        STEPS,
        processes=[COPIES],
        events=[(1, 8000), (3, 0)],
        totals={1: KeyTotals(10, 10, stood, 10)},
    )
    hops = hop_table(run)
    (found,) = run_findings(run, hops, with_stalls(sync_table(run), run, hops))
    assert found.summary == (
        f"Python takes a value from cpu:1 by numpy at train.py:3: 1,000 B each step, {told}."
    )
    (row,) = with_stalls(sync_table(run), run, hops)
    only_copying = dataclasses.replace(row, wait_ns=0, copy_ns=5000, basis="estimated")
    assert standstill([only_copying]) == ", 5 µs waited, of it 5 µs copying (estimated)"
    idle = None if stood < 100_000 else ["cpu:2 100 % of it (inferred)"]
    assert found.evidence.row().get("idle_meanwhile") == idle


@pytest.mark.parametrize(
    ("count", "waited", "severity"),
    [(100, 5_000_000, "warning"), (100, 1000, "info"), (10, 5_000_000, "info")],
)
def test_sending_data_to_an_array_in_use_is_one_finding_with_its_wait(
    count: int, waited: int, severity: str
) -> None:
    """GIVEN a slice assignment that waits until nobody reads the array THEN the upload stalls, or hardly."""
    upload = Key(1, "hop", hop_fields("cpu:0", "cpu:1", kind="upload", op="Python", loc=3), count)
    run = tables(
        upload,
        sync(2, count=count, kind="upload", split=True),
        Key(90, "mark", {"name": "step"}, count),
        totals={
            2: KeyTotals(count, count, waited, count, value_sum=0, end_ns=20_000_000),
        },
    )
    (finding,) = run_findings(run, hop_table(run), stalls(run))
    assert (finding.code, finding.severity, finding.site) == ("host-upload", severity, "train.py:3")
    assert finding.evidence.row()["wait_ns"] == waited


@pytest.mark.parametrize("graph", [0, 7])
def test_a_value_that_was_copied_to_the_host_each_time_is_waited_for_on_its_device(graph: int) -> None:
    """By the code itself, or within a function whose result the host makes of it."""

    def taken(copies: int) -> Sync:
        copy = Key(1, "hop", hop_fields("cpu:1", "cpu:0", op="_copyto", loc=2, graph=graph), copies)
        (row,) = sync_table(tables(copy, sync(2, "cpu:0", copied_from="cpu:1", copy_loc=2)))
        return row

    brought = taken(10)
    assert (brought.device, brought.waits_for, brought.brought_at) == ("cpu:0", "cpu:1", ("train.py:2",))
    assert (taken(1).device, taken(1).waits_for, taken(1).brought_at) == ("cpu:0", "", ())


def test_a_value_of_what_several_devices_brought_waits_for_all_of_them() -> None:
    copies = [Key(n, "hop", hop_fields(f"cpu:{n}", "cpu:0", op="_copyto", loc=2), 10) for n in (1, 2)]
    parts: dict[str, Any] = {"copied_from": "cpu:1", "copy_loc": 2, "copied_from_too": ["cpu:2"]}
    run = tables(*copies, sync(3, "cpu:0", **parts), totals={3: KeyTotals(10, 10, 8000, 10)})
    (row,) = sync_table(run)
    assert (row.waits_for, row.waits_for_too) == ("cpu:1", ("cpu:2",))
    assert row.source == "cpu:0, which waits for cpu:1 and cpu:2"
    found = next(one for one in run_findings(run, hop_table(run), [row]) if one.code == "host-sync")
    assert "a value from cpu:0, which waits for cpu:1 and cpu:2, by numpy at train.py:3" in found.summary


def test_a_value_of_the_host_that_waits_for_a_device_is_told_with_both() -> None:
    """Taking it copies nothing from the device that it waits for."""
    run = tables(
        Key(1, "hop", hop_fields("cpu:2", "cpu:0", op="MatMul", loc=2), 10),
        sync(2, "cpu:0", copied_from="cpu:2", copy_loc=2),
        processes=[COPIES],
        totals={2: KeyTotals(10, 10, 8000, 10)},
    )
    hops = hop_table(run)
    found = next(row for row in run_findings(run, hops, stalls(run, hops)) if row.code == "host-sync")
    assert found.summary == (
        "Python takes a value from cpu:0, which waits for cpu:2, by numpy at train.py:3: 10\u00d7, 8 \u00b5s"
        " waited (measured)."
    )
    assert (found.evidence.row()["device"], found.evidence.row()["value_on"]) == ("cpu:2", "cpu:0")
    (row,) = stalls(run, hops)
    assert (row.source, row.wait_ns, row.copy_ns) == ("cpu:0, which waits for cpu:2", 8000, None)


def test_without_steps_what_autograd_records_is_a_round() -> None:
    """As in a training loop from scratch; evaluating calls the network more often."""
    recorded = [Key(n, "mark", {"name": "record", "loc": n}, count) for n, count in ((1, 12), (2, 3))]
    graph = Graph(7, "net", "net_0", 3, 3, None, 40)
    assert tables(*recorded, graphs=[graph]).rounds == 12
    assert tables(*recorded, STEPS, graphs=[graph]).rounds == 10


def test_idle_shares_of_several_waits_are_of_all_of_them_together() -> None:
    """GIVEN a long wait for cpu:1, idle in a short one for cpu:2, THEN it was so for a small part of both."""
    first = Sync("cpu:1", "asnumpy", "t.py:3", 1, 900_000, 0, "measured", idle=())
    second = Sync("cpu:2", "asnumpy", "t.py:3", 1, 100_000, 0, "measured", idle=(Idle("cpu:1", 1.0),))
    assert waited([first, second]).idle_meanwhile == ["cpu:1 10 % of it (inferred)"]
    third = Sync("cpu:2", "asnumpy", "t.py:3", 1, 5_000, 0, "measured", idle=(Idle("cpu:1", 1.0),))
    assert waited([first, third]).idle_meanwhile is None
    moment = dataclasses.replace(second, wait_ns=10_000)
    assert waited([moment]).idle_meanwhile is None, "of a moment nothing is said"


def test_what_is_compared_on_the_host_is_one_finding_with_its_wait() -> None:
    """``if loss > limit``: the comparison brings the loss to the host, and Python waits for its answer."""
    brought = hop_fields("cpu:1", "cpu:0", op="Greater", loc=3, facts={"asked_by": "bool"}, bytes=4)
    run = tables(
        Key(1, "hop", brought, 10),
        sync(2, "cpu:0", kind="bool", copied_from="cpu:1", copy_loc=3),
        STEPS,
        totals={2: KeyTotals(10, 10, 8000, 10)},
    )
    hops = hop_table(run)
    (found,) = run_findings(run, hops, stalls(run, hops))
    assert (found.code, found.site, found.evidence.row()["wait_ns"]) == ("host-sync", "train.py:3", 8000)
    assert "brought_at" not in found.evidence.row()
