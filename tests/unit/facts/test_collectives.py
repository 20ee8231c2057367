"""A collective of several processes is one, wherever and however often it was told."""

from __future__ import annotations

from typing import Any

from app.diagnosis.judge import hop_table
from app.diagram.grouping import placement_diagram
from app.facts.collectives import collective_table
from app.facts.transfers import wire
from app.facts.transfers.device_matrix import device_matrix
from app.views.matrix import cell_text
from app.views.matrix_data import Cell, CollectiveShare
from probes.trace.rows import Graph, Key, Node
from tests.unit.reports.test_run_report import process, tables

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


def graph_of_worker(worker: int) -> tuple[Graph, list[Node]]:
    number = (SECOND_PROCESS if worker else 0) + 1
    device = f"worker:{worker}/cpu:1"
    ops = [("forward", "MatMul"), ("sum", "CollectiveReduceV2")]
    nodes = [Node(number, n, name, op, device, device, LINE, 0) for n, (name, op) in enumerate(ops, 1)]
    return Graph(number, "step", f"__inference_step_{worker}", 0, 1, None, calls=7), nodes


def test_a_collective_is_drawn_between_the_graphs_of_two_processes_and_stands_once_in_the_matrix() -> None:
    made = [graph_of_worker(0), graph_of_worker(1)]
    nodes = {graph.id: found for graph, found in made}
    run = tables(
        part(0, 1, 7), part(1, 1, 7), graphs=[graph for graph, _ in made], nodes_of=nodes.__getitem__
    )
    diagram = placement_diagram(run, hop_table(run))
    assert [(one.src_device, one.dst_device, one.bytes_total, one.count) for one in diagram.crossings] == [
        ("worker:0/cpu:1", "worker:1/cpu:1", 700, 7),
        ("worker:1/cpu:1", "worker:0/cpu:1", 700, 7),
    ]
    matrix = device_matrix(hop_table(run), collectives=collective_table(run))
    assert [(cell.src, cell.dst, cell.collectives[0].bytes) for cell in matrix.cells] == [
        ("worker:0/cpu:1", "worker:1/cpu:1", 700),
        ("worker:1/cpu:1", "worker:0/cpu:1", 700),
    ]


def test_a_broadcast_goes_down_a_tree() -> None:
    devices = tuple(f"worker:{n}/cpu:0" for n in range(4))
    down = {(devices[0], devices[1]): 10, (devices[0], devices[2]): 10, (devices[1], devices[3]): 10}
    assert wire.shares(devices, 30, "tree") == down
    assert wire.kind("CollectiveBcast") == "broadcast"
    assert {"CollectiveBcastSend", "CollectiveBcastRecv"} <= set(wire.kernels("CollectiveBcast"))


def test_a_cell_names_the_largest_collective_and_counts_the_others() -> None:
    small, large = (
        CollectiveShare(name, "ring", size, 1, "estimated")
        for name, size in (("broadcast", 8), ("all-reduce", 2048))
    )
    text = cell_text(Cell("worker:0/cpu:1", "worker:1/cpu:1", 0, 0, collectives=(small, large)), 4)
    assert text == "+ 2 KiB<br>all-reduce, + 1"
