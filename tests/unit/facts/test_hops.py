"""The hop table and the device matrix."""

from __future__ import annotations

from typing import Any

from app.diagnosis.judge import hop_table
from app.facts.devices import in_order
from app.facts.tables import Tables
from app.facts.transfers.device_matrix import device_matrix
from app.facts.transfers.hops import Hop
from probes.trace.rows import Key, Location, Process
from tests.unit.traces import hop_fields

LOCATIONS = {
    1: Location(1, "train.py:31", None, "/src/train.py", 31, "main"),
    2: Location(2, "train.py:12", "keras/layers.py:call", "/src/train.py", 12, "forward"),
}


def tables(*keys: Key, **parts: Any) -> Tables:
    facts: dict[str, Any] = {"processes": [], "locations": LOCATIONS, "graphs": [], "unseen": []}
    return Tables(keys=list(keys), **(facts | parts))


def hop(number: int, src: str, dst: str, count: int | None, **fields: Any) -> Key:
    return Key(number, "hop", hop_fields(src, dst, **fields), count)


def test_a_scope_is_that_of_the_calls_which_asked_for_its_device() -> None:
    """One line runs in two scopes: its ops on one device have the scope of those that asked for the same."""
    asked = ((1, "cpu:1", 1), (2, "gpu:0", 2), (3, "cpu:1", 1))
    ops = [
        Key(
            number, "op", {"op": "Relu", "loc": 2, "device": "cpu:1", "requested": name, "scope_loc": line}, 9
        )
        for number, name, line in asked
    ]
    made: dict[str, Any] = {"producer_op": "Relu", "producer_loc": 2, "producer_requested": "gpu:0"}
    process = Process(0, 1, "main", "tensorflow", None, None, None, 0, 0, ["cpu:0", "cpu:1"], {}, True, {})
    key = hop(9, "cpu:1", "cpu:0", 9, requested="cpu:0", **made)
    (row,) = hop_table(tables(*ops, key, processes=[process]))
    assert (row.cause.code, row.cause.blames) == ("missing-device", "producer")
    # Told is where the missing device was asked for, and not what else the transfer has a scope of.
    assert row.cause.evidence.row()["producer_scope"] == row.cause.evidence.row()["asked_in"] == "train.py:12"
    read = hop(9, "cpu:1", "cpu:0", 9, requested="cpu:0", **made | {"producer_op": "ReadVariableOp"})
    (row,) = hop_table(tables(read, processes=[process]))
    assert row.cause.code == "variable-home"


def test_a_row_has_all_that_the_report_shows() -> None:
    key = hop(
        1,
        "cpu:1",
        "cpu:2",
        30,
        loc=2,
        producer_loc=1,
        forward_loc=2,
        requested="cpu:2",
        producer_requested="cpu:1",
    )
    (row,) = hop_table(tables(key))
    assert row.row() == {
        "src": "cpu:1",
        "dst": "cpu:2",
        "src_memory": "device",
        "dst_memory": "device",
        "tensor": "t:0",
        "op": "MatMul",
        "producer": "t",
        "consumers": ["m"],
        "bytes": 100,
        "count": 30,
        "site": "train.py:12",
        "producer_site": "train.py:31",
        "forward_site": "train.py:12",
        "via": "keras/layers.py:call",
        "cause": "explicit",
        "basis": "estimated",
        "estimated_ms": None,
        "estimated_ms_basis": None,
    }
    assert row.bytes_total == 3000


def test_equal_hops_of_several_retraces_and_processes_are_one() -> None:
    """GIVEN the same hop in two graphs and in another process THEN it is one row and the counts add up."""
    base = 1 << 32
    rows = hop_table(
        tables(
            hop(1, "cpu:1", "cpu:2", 30, graph=1, per_call=1, loc=1),
            hop(2, "cpu:1", "cpu:2", 5, graph=2, per_call=1, loc=1),
            hop(base + 1, "cpu:1", "cpu:2", 7, graph=base + 1, per_call=1, loc=1),
        )
    )
    assert [(row.count, row.keys, row.graphs) for row in rows] == [
        (42, (1, 2, base + 1), (1, 2, base + 1)),
    ]


def test_hops_that_differ_stay_apart() -> None:
    rows = hop_table(
        tables(
            hop(1, "cpu:1", "cpu:2", 1, loc=1),
            hop(2, "cpu:1", "cpu:2", 1, loc=2),
            hop(3, "cpu:1", "cpu:2", 1, loc=1, bytes=7),
            hop(4, "cpu:1", "cpu:2", 1, loc=1, tensor="u:0"),
            hop(5, "cpu:1", "cpu:2", 1, loc=1, op="Relu"),
            hop(6, "cpu:2", "cpu:1", 1, loc=1),
            hop(7, "cpu:1", "cpu:2", 1, loc=1, requested="cpu:2"),
            hop(8, "cpu:1", "cpu:2", 1, loc=1, dst_memory="host"),
        )
    )
    assert len(rows) == 8


def test_what_was_not_observed_is_unknown_not_zero() -> None:
    unknown = hop(1, "cpu:1", "cpu:2", None, loc=1)
    (row,) = hop_table(tables(unknown))
    assert (row.count, row.bytes_total, row.basis) == (None, None, "unknown")
    (merged,) = hop_table(tables(unknown, hop(2, "cpu:1", "cpu:2", 30, loc=1)))
    assert (merged.count, merged.basis) == (None, "unknown")


def test_unknown_bytes_are_unknown() -> None:
    (row,) = hop_table(tables(hop(1, "cpu:1", "cpu:2", 3, bytes=None)))
    assert (row.bytes, row.bytes_total, row.basis) == (None, None, "unknown")


def test_a_gradient_made_elsewhere_blames_the_line_that_made_it() -> None:
    key = hop(
        1,
        "cpu:0",
        "cpu:1",
        30,
        loc=2,
        producer_loc=1,
        requested="cpu:1",
        facts={"producer_forward_requested": "cpu:1"},
    )
    (row,) = hop_table(tables(key))
    assert (row.site, row.blamed_site) == ("train.py:12", "train.py:31")


def test_a_variable_read_to_the_host_and_taken_there_is_a_value_taken() -> None:
    """Its read and its sync stand at one line, but below it in different libraries."""
    lines = LOCATIONS | {3: Location(3, "train.py:12", None, "/src/train.py", 12, "forward")}
    read = hop(
        1,
        "cpu:1",
        "cpu:0",
        30,
        loc=2,
        op="Identity",
        producer_op="",
        facts={"variable": "w"},
        basis="measured",
    )
    taken = {"device": "cpu:0", "kind": "numpy", "loc": 3, "bytes": 100}
    (row,) = hop_table(tables(read, Key(2, "sync", taken, 30), locations=lines))
    assert (row.cause.code, row.cause.evidence.row()["taken_by"]) == ("host-sync", "numpy")
    (row,) = hop_table(tables(read, Key(2, "sync", taken | {"device": "cpu:1"}, 30), locations=lines))
    assert row.cause.code == "variable-home"
    (row,) = hop_table(tables(read, Key(2, "sync", taken, 0), locations=lines))
    assert row.cause.code == "variable-home"


def some_hops() -> list[Hop]:
    return hop_table(
        tables(
            hop(1, "cpu:1", "cpu:2", 30, loc=1, requested="cpu:2", producer_requested="cpu:1"),
            hop(2, "cpu:1", "cpu:2", 30, loc=2, bytes=1, tensor="u", facts={"variable": "k"}),
            hop(3, "cpu:1", "cpu:0", None, loc=1),
            hop(4, "cpu:1", "cpu:0", 10, loc=1, tensor="v"),
            hop(5, "cpu:2", "cpu:1", 0, loc=1),
        )
    )


def test_the_matrix_adds_up_by_pair() -> None:
    matrix = device_matrix(some_hops(), ["cpu:0", "cpu:1", "cpu:2", "cpu:3"], ["cpu:1"])
    assert matrix.devices == ("cpu:1", "cpu:2", "cpu:3", "cpu:0")
    assert matrix.stand_ins == {"cpu:1"}
    cells = {(cell.src, cell.dst): cell for cell in matrix.cells}
    assert set(cells) == {("cpu:1", "cpu:2"), ("cpu:1", "cpu:0")}
    neighbours = cells[("cpu:1", "cpu:2")]
    assert (neighbours.bytes, neighbours.count, neighbours.hops) == (3030, 60, (0, 1))
    assert neighbours.basis == "estimated"
    unknown = cells[("cpu:1", "cpu:0")]
    assert (unknown.bytes, unknown.count, unknown.bytes_known, unknown.hops) == (None, None, 1000, (2, 3))
    assert (unknown.severity, unknown.basis) == ("warning", "unknown")


def test_an_empty_matrix_still_has_its_devices() -> None:
    matrix = device_matrix([], ["gpu:10", "gpu:2", "cpu:0", "worker:1/gpu:0", "worker:0/gpu:0"])
    assert matrix.devices == ("gpu:2", "gpu:10", "cpu:0", "worker:0/gpu:0", "worker:1/gpu:0")
    assert matrix.cells == ()


def test_the_devices_of_several_processes_stand_by_process() -> None:
    names = ["server:0/cpu:0", "worker:1/cpu:0", "worker:0/cpu:1", "scheduler:0/cpu:0"]
    names += ["worker:0/cpu:0", "worker:10/cpu:1", "worker:1/cpu:1", "?"]
    assert in_order(names, host_last=True) == [
        "worker:0/cpu:1",
        "worker:0/cpu:0",
        "worker:1/cpu:1",
        "worker:1/cpu:0",
        "worker:10/cpu:1",
        "scheduler:0/cpu:0",
        "server:0/cpu:0",
        "?",
    ]
    # A process that only directs the others has no row in the matrix.
    pull = hop(1, "server:0/cpu:0", "worker:0/cpu:0", 1)
    devices = device_matrix(hop_table(tables(pull)), names[:5]).devices
    assert devices == ("worker:0/cpu:1", "worker:0/cpu:0", "server:0/cpu:0")
