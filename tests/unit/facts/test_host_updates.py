"""Gradients that a graph puts together on the host are a sum only where they change a variable there."""

from __future__ import annotations

from typing import Any

from app.diagnosis.causes.reduce_on_host.cause import reduce_on_host
from app.diagnosis.explanation import Recorded, repair
from app.diagnosis.registry import advice, because
from app.facts.tables import Tables
from app.facts.transfers.hand_sums import hand_sums
from app.facts.transfers.transfer import Context, HandSum, Transfer
from app.judgments.finding import Finding
from probes.trace.rows import Edge, Key, Location, Node

HOST = "cpu:0"
SITES = {line: Location(line, f"train.py:{line}", None, "/train.py", line, "main") for line in range(1, 30)}
SHAPE = "3x4"
Way = list[tuple[str, str, str]]
"""(name, op type, shape of what it is handed) from the op that takes the gradients to the variable's."""


def gradient(number: int, device: str, **more: Any) -> Key:
    facts: dict[str, Any] = {"producer_forward_requested": device}
    fields = {"src": device, "dst": HOST, "op": "Pack", "loc": 5, "kind": "copy", "shape": SHAPE, "graph": 3}
    fields |= {"requested": HOST, "producer_requested": device, "producer_op": "MatMul", "producer_loc": 2}
    return Key(number, "hop", {**fields, "facts": facts, "consumers": ["stack"], **more}, 10)


def graph(
    way: Way, keys: list[Key], nodes: list[Node] | None = None, edges: list[Edge] | None = None
) -> Tables:
    made = [Node(3, at, name, op, "", HOST, 10 + at, 0) for at, (name, op, _) in enumerate(way, 1)]
    handed = [Edge(3, at, 0, at + 1, 1, 48, "float32", way[at][2]) for at in range(1, len(way))]
    made += nodes or []
    handed += edges or []
    return Tables([], SITES, [], keys, [], nodes_of=lambda number: made, edges_of=lambda number: handed)


TOWERS = [gradient(1, "gpu:0"), gradient(2, "gpu:1")]
APPLY = ("apply", "ResourceApplyMomentum", SHAPE)
MEAN: Way = [("stack", "Pack", SHAPE), ("mean", "Mean", f"2x{SHAPE}"), APPLY]
MADE = frozenset({("MatMul", 2, "gpu:0"), ("MatMul", 2, "gpu:1")})


def test_the_mean_that_changes_a_variable_of_the_host() -> None:
    assert hand_sums(graph(MEAN, TOWERS)) == {(3, 5): HandSum(MADE, (), ("train.py:13",))}


def test_gradients_of_one_device() -> None:
    assert hand_sums(graph(MEAN, TOWERS[:1])) == {}


def test_a_mean_that_is_only_looked_at() -> None:
    assert hand_sums(graph(MEAN[:2], TOWERS)) == {}


def test_what_is_kept_of_another_shape_is_no_update() -> None:
    """THEN it is a figure of the gradients, such as a metric's."""
    norm: Way = [*MEAN[:1], ("norm", "L2Loss", f"2x{SHAPE}"), ("total", "AssignAddVariableOp", "")]
    assert hand_sums(graph(norm, TOWERS)) == {}


def test_gradients_that_are_scaled_by_the_norm_of_all() -> None:
    """Clipping by the global norm, where each device has variables of its own."""
    clipped: Way = [("stack", "L2Loss", SHAPE), ("all", "Pack", ""), APPLY]
    assert hand_sums(graph(clipped, TOWERS)) == {}


def test_gradients_of_other_shapes_are_not_of_one_variable() -> None:
    assert hand_sums(graph(MEAN, [TOWERS[0], gradient(2, "gpu:1", shape="4")])) == {}


def test_gradients_that_are_applied_one_after_the_other() -> None:
    """Without a sum, as asynchronous towers do it."""
    each = [gradient(number, f"gpu:{number}", op="Mul", consumers=[f"scaled{number}"]) for number in (0, 1)]
    way: Way = [("scaled0", "Mul", SHAPE), APPLY]
    other = [Node(3, 9, "scaled1", "Mul", "", HOST, 9, 0)]
    assert hand_sums(graph(way, each, other, [Edge(3, 9, 0, 2, 1, 48, "float32", SHAPE)])) == {}


def test_gradients_that_an_identity_hands_on() -> None:
    handed = [
        gradient(number, f"gpu:{number}", producer_op="Identity", producer=f"tuple{number}", facts={})
        for number in (0, 1)
    ]
    nodes = [Node(3, 20 + n, f"tuple{n}", "Identity", "", f"gpu:{n}", 2, 0) for n in (0, 1)]
    forward = [Node(3, 30 + n, f"grad{n}", "MatMul", "", f"gpu:{n}", 2, 0) for n in (0, 1)]
    backward = [Node(3, 30 + n, f"grad{n}", "MatMul", "", f"gpu:{n}", 2, 1) for n in (0, 1)]
    edges = [Edge(3, 30 + n, 0, 20 + n, 0, 48, "float32", SHAPE) for n in (0, 1)]
    assert hand_sums(graph(MEAN, handed, nodes + forward, edges)) == {}
    assert set(hand_sums(graph(MEAN, handed, nodes + backward, edges))) == {(3, 5)}


def test_how_it_is_told() -> None:
    context = Context(hand_sums={(3, 5): HandSum(MADE, (), ("train.py:13",))})
    evidence = reduce_on_host(Transfer(TOWERS[0].fields, context))
    assert evidence is not None
    assert evidence.row() == {
        "algorithm": "the code itself",
        "summed_on": HOST,
        "devices": ["gpu:0", "gpu:1"],
        "applied_at": ["train.py:13"],
    }
    finding = Finding("reduce-on-host", "warning", "train.py:5", "", evidence, None, ())
    assert because(finding) == (
        "Gradients of gpu:0 and gpu:1 are copied to cpu:0 and put together there; the result changes"
        " variables there at train.py:13, which the devices read for the next step."
    )
    assert "copy of the variables on each device" in (advice("reduce-on-host", evidence) or "")
    assert (
        repair(finding, Recorded((), {"train.py": "a = b\n"}.get, "tensorflow", (HOST, "gpu:0", "gpu:1")))
        is None
    )
