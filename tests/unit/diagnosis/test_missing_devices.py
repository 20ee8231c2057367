"""A device that does not exist is told also where nothing crossed for it."""

from __future__ import annotations

from typing import Any

from app.diagnosis.causes.missing_device.cause import absent_findings
from app.diagnosis.findings import run_findings
from app.diagnosis.registry import advice, because
from app.facts.tables import Tables
from probes.trace.rows import Graph, Key, Location, Node, Process

LINES = {n: Location(n, f"train.py:{n}", None, "/train.py", n, "main") for n in (3, 4, 8)}


def eager(number: int, requested: str, device: str = "cpu:0", count: int = 5, **fields: Any) -> Key:
    return Key(
        number, "op", {"op": "MatMul", "requested": requested, "device": device, "loc": 4} | fields, count
    )


def tables(*keys: Key, nodes: tuple[Node, ...] = (), devices: tuple[str, ...] = ("cpu:0", "cpu:1")) -> Tables:
    process = Process(0, 1, "main", "tensorflow", None, None, None, 0, 0, list(devices), {}, True, {})
    graphs = [Graph(1, "step", "step", 8, 0, None, 5)] if nodes else []
    return Tables([process], LINES, graphs, list(keys), [], {}, lambda _graph: list(nodes), lambda _graph: [])


def test_the_line_of_the_scope_is_named_and_the_ops_counted() -> None:
    inside = Node(1, 1, "MatMul", "MatMul", "gpu:0", "cpu:0", 8, 0)
    there = Node(1, 2, "Relu", "Relu", "cpu:1", "cpu:1", 8, 0)
    run = tables(
        eager(1, "gpu:0", scope_loc=3), eager(2, ""), eager(3, "cpu:1", "cpu:1"), nodes=(inside, there)
    )
    (found,) = absent_findings(run)
    assert (found.code, found.severity, found.site) == ("missing-device", "warning", "train.py:3")
    assert found.summary == (
        "Code at train.py:3 and 1 other line is to run on gpu:0, which does not exist here: 2 ops ran on"
        " cpu:0 instead."
    )
    assert found.evidence.row() == {
        "missing": "gpu:0",
        "ran_on": ["cpu:0"],
        "ops": 2,
        "asked_at": ["train.py:3", "train.py:8"],
    }
    assert "preflight" in (advice(found.code, found.evidence) or "")


def test_nothing_is_told_of_devices_that_exist_or_are_not_known() -> None:
    assert absent_findings(tables(eager(1, "cpu:1"), eager(2, "gpu:*"))) == []
    assert absent_findings(tables(eager(1, "gpu:0"), devices=())) == []
    assert absent_findings(tables(eager(1, "gpu:0", count=0))) == []


def test_a_pre_flight_which_makes_devices_up_is_told_nothing_of_it() -> None:
    run = tables(eager(1, "gpu:0", scope_loc=3))
    assert [one.code for one in run_findings(run, [], [])] == []
    assert [one.code for one in run_findings(run, [], [], {"preflight": {"steps": 3}})] == []
    assert [one.code for one in run_findings(run, [], [], {})] == ["missing-device"]


def test_what_mxnet_refused_is_an_error_at_its_line() -> None:
    """Bug: `mx.gpu(0)` where there is none ended the run, and the report said that nothing was found."""
    fields = {"op": "_ones", "missing": "gpu:0", "loc": 4, "gpus": 0, "built_for_gpus": False}
    run = tables(Key(1, "absent", fields, 1), Key(2, "absent", fields | {"loc": 8, "op": "_copyto"}, 2))
    (found,) = absent_findings(run)
    assert (found.code, found.severity, found.site) == ("missing-device", "error", "train.py:4")
    assert found.summary == (
        "The code at train.py:4 and 1 other line asks for gpu:0, which does not exist here: MXNet raised for"
        " _ones and _copyto."
    )
    assert because(found).startswith("This MXNet is built without support for GPUs")
    assert "CUDA_VISIBLE_DEVICES" in (advice(found.code, found.evidence) or "")
    one = {"missing": "gpu:3", "gpus": 1, "built_for_gpus": True}
    (further,) = absent_findings(tables(Key(1, "absent", fields | one, 1)))
    assert because(further) == "This MXNet is built with support for GPUs, and is shown 1 of them."
