"""Gradients that the code itself adds up on the host: told only where the sum comes back to the devices."""

from __future__ import annotations

from typing import Any

from app.diagnosis.causes.reduce_on_host.cause import reduce_on_host
from app.diagnosis.explanation import Recorded, repair
from app.diagnosis.registry import advice, because
from app.facts.tables import Tables
from app.facts.transfers.hand_sums import hand_sums
from app.facts.transfers.transfer import Context, HandSum, Transfer
from app.fixes.code.edits import applied
from app.judgments.finding import Finding
from probes.trace.rows import Key, Location
from tests.unit.evidence_records import evidence

SITES = {line: Location(line, f"train.py:{line}", None, "/train.py", line, "main") for line in range(1, 30)}
HOST = "cpu:0"


def tables(*keys: tuple[str, dict[str, Any]]) -> Tables:
    made = [Key(number, kind, fields, 10) for number, (kind, fields) in enumerate(keys, 1)]
    return Tables([], SITES, [], made, [], events_of=lambda kind: [])


def hop(src: str, dst: str, op: str, loc: int, **more: Any) -> tuple[str, dict[str, Any]]:
    fields = {"src": src, "dst": dst, "op": op, "loc": loc, "kind": "copy", "shape": "3x4", "graph": 0}
    return "hop", fields | {"requested": dst, "producer_requested": src} | more


def gradients(op: str = "AddN", loc: int = 5, **more: Any) -> list[tuple[str, dict[str, Any]]]:
    return [
        hop(device, HOST, op, loc, producer_op="MatMul", producer_loc=2, **more)
        for device in ("gpu:0", "gpu:1")
    ]


def result(**more: Any) -> list[tuple[str, dict[str, Any]]]:
    made: dict[str, Any] = {"producer_op": "RealDiv", "producer_loc": 6} | more
    return [hop(HOST, device, "Mul", 9, **made) for device in ("gpu:0", "gpu:1")]


def backward(device: str) -> tuple[str, dict[str, Any]]:
    return "op", {"op": "MatMul", "loc": 2, "device": device, "forward_loc": 1}


BACKWARD = [backward("gpu:0"), backward("gpu:1")]
MADE = frozenset({("MatMul", 2, "gpu:0"), ("MatMul", 2, "gpu:1")})


def test_eager_gradients_that_are_added_up_and_come_back() -> None:
    assert hand_sums(tables(*BACKWARD, *gradients(), *result())) == {(0, 5): HandSum(MADE, ("train.py:9",))}


def test_gradients_that_a_traced_function_returned() -> None:
    returned = [("returned", {"op": "MatMul", "loc": 2, "device": device}) for device in ("gpu:0", "gpu:1")]
    assert set(hand_sums(tables(*returned, *gradients(), *result()))) == {(0, 5)}


def test_gradients_that_get_another_axis_first() -> None:
    expanded = gradients("ExpandDims", scope_loc=4)
    concatenated = "op", {"op": "ConcatV2", "loc": 7, "device": HOST, "scope_loc": 4}
    assert set(hand_sums(tables(*BACKWARD, *expanded, concatenated, *result()))) == {(0, 5)}
    assert hand_sums(tables(*BACKWARD, *expanded, *result())) == {}


def test_what_is_not_of_a_backward_pass_is_no_gradient() -> None:
    assert hand_sums(tables(*gradients(), *result())) == {}


def test_gradients_that_are_only_looked_at() -> None:
    assert hand_sums(tables(*BACKWARD, *gradients())) == {}


def test_gradients_of_one_device() -> None:
    assert hand_sums(tables(*BACKWARD, gradients()[0], *result())) == {}


def test_gradients_that_are_scaled_each_for_its_own_device() -> None:
    assert hand_sums(tables(*BACKWARD, *gradients("Mul"), *result())) == {}


def test_initial_values_are_no_result() -> None:
    found = tables(*BACKWARD, *gradients(), *result())
    once = [
        Key(key.id, key.kind, key.fields, 1) if key.fields["src"] == HOST else key
        for key in found.of_kind("hop")
    ]
    ops = found.of_kind("op")
    assert hand_sums(Tables([], SITES, [], [*ops, *once], [], events_of=lambda kind: [])) == {}


def test_nobody_asked_for_the_host() -> None:
    """THEN that no scope was open is the cause, not the sum."""
    assert hand_sums(tables(*BACKWARD, *gradients(requested=""), *result())) == {}


GRAPH: dict[str, Any] = {"graph": 3}
OF_GRADIENT = GRAPH | {"facts": {"producer_forward_requested": "gpu:0"}}


def test_in_a_graph_one_tensor_of_the_host_goes_to_several_devices() -> None:
    arriving = gradients("ExpandDims", **OF_GRADIENT)
    found = hand_sums(tables(*arriving, *result(tensor="Mean:0", **GRAPH)))
    assert found == {(3, 5): HandSum(MADE, ("train.py:9",))}
    each = [hop(HOST, f"gpu:{i}", "Mul", 9, tensor=f"clip_{i}:0", producer_op="Mul", **GRAPH) for i in (0, 1)]
    assert hand_sums(tables(*arriving, *each)) == {}


MXNET: dict[str, Any] = {"facts": {"gradient": True}}


def test_mxnet_arrays_that_were_put_together_line_by_line() -> None:
    first = hop("gpu:0", HOST, "_copyto", 5, producer_op="gradient", **MXNET)
    second = hop("gpu:1", HOST, "_copyto", 7, producer_op="gradient", **MXNET)
    together = [
        ("together", {"loc": 5, "device": "gpu:0", "made_loc": 8}),
        ("together", {"loc": 7, "device": "gpu:1", "made_loc": 8}),
    ]
    back = result(origin_loc=5, producer_op="_div_scalar")
    assert set(hand_sums(tables(first, second, *together, *back))) == {(0, 5), (0, 7)}
    assert hand_sums(tables(first, second, *back)) == {}
    assert hand_sums(tables(first, second, *together, *result())) == {}


def test_the_transfers_to_the_host_are_told_as_a_sum() -> None:
    context = Context(hand_sums={(0, 5): HandSum(MADE, ("train.py:9",))})
    arriving, other = gradients()[0][1], hop("gpu:0", HOST, "AddN", 5, producer_op="Relu", producer_loc=3)[1]
    assert reduce_on_host(Transfer(arriving, context)) == evidence(
        "reduce-on-host",
        algorithm="the code itself",
        summed_on=HOST,
        devices=["gpu:0", "gpu:1"],
        handed_back_at=["train.py:9"],
    )
    assert reduce_on_host(Transfer(other, context)) is None
    assert reduce_on_host(Transfer(result()[0][1], context)) is None


EVIDENCE = evidence(
    "reduce-on-host",
    {
        "algorithm": "the code itself",
        "summed_on": HOST,
        "devices": ["gpu:0", "gpu:1"],
        "handed_back_at": ["train.py:9"],
        "scope": "train.py:4",
    },
)


def test_why_and_what_to_do() -> None:
    finding = Finding("reduce-on-host", "warning", "train.py:5", "", EVIDENCE, None, ())
    assert because(finding) == (
        "Gradients of gpu:0 and gpu:1 are copied to cpu:0 and put together there (the scope opened at"
        " train.py:4); the result goes back to them at train.py:9."
    )
    assert "on gpu:0" in (advice("reduce-on-host", EVIDENCE) or "")


def test_the_scope_that_the_sum_stands_in_becomes_a_devices() -> None:
    text = (
        "import tensorflow as tf\n\n\nwith tf.device('/CPU:0'):\n    mean = tf.add_n(grads) / 2\n"
        "with tf.device('/GPU:1'):\n    a = b\n"
    )
    finding = Finding("reduce-on-host", "warning", "train.py:5", "", EVIDENCE, None, (), True)
    found = repair(finding, Recorded((), {"train.py": text}.get, "tensorflow", (HOST, "gpu:0", "gpu:1")))
    assert found is not None
    assert applied(text, found.edits) == text.replace("/CPU:0", "/GPU:0")
    assert repair(finding, Recorded((), {"train.py": text}.get, "mxnet", (HOST, "gpu:0", "gpu:1"))) is None
