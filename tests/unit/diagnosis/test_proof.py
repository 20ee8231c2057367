"""What a finding rests on, laid out: the way of its tensors, then what decided."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.causes.unbalanced.cause import Fullness
from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table, told_hops
from app.diagnosis.proof import MOST_WAYS, Proof, proof
from app.diagnosis.proof_facts import Place
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.judgments.evidence import FindingEvidence
from app.judgments.finding import Finding
from probes.trace.rows import Key
from tests.unit.diagnosis.test_tensor_paths import STEPS, hop, tables
from tests.unit.evidence_records import evidence

CODE = {"train.py:11": "y = f(x)", "train.py:12": 'with tf.device("CPU:1"):'}


def proved(run: Tables, code: str) -> Proof:
    hops = hop_table(run)
    (found,) = [one for one in run_findings(run, hops, []) if one.code == code]
    return proof(found, hops, lambda site: CODE.get(site, ""))


def alone(code: str, **facts: Any) -> list[str]:
    """The facts of a finding about no transfer, as lines."""
    return shown(code, evidence(code, facts))


def shown(code: str, known: FindingEvidence) -> list[str]:
    """The same of this evidence."""
    found = Finding(code, "warning", "train.py:11", "", known, None, ())
    return proof(found, [], lambda site: CODE.get(site, "")).lines()


def test_both_ends_stand_with_what_was_asked_for_and_the_line_that_asked() -> None:
    facts: dict[str, Any] = {"producer_op": "MatMul", "producer_loc": 2, "op": "AddV2", "loc": 1}
    facts |= {"producer_requested": "cpu:1", "producer_scope_loc": 2, "requested": "", "assigned": "cpu:0"}
    (way,) = proved(tables(hop(1, "cpu:1", "cpu:0", bytes=4096, **facts), STEPS), "default-device").ways
    made, taken = way.stops
    assert way.moved == "4 KiB \u00d7 8"
    assert (made.op, made.requested, made.device) == ("MatMul", "cpu:1", "cpu:1")
    assert made.scope == Place("train.py:12", 'with tf.device("CPU:1"):')
    assert (taken.op, taken.at) == ("AddV2", Place("train.py:11", "y = f(x)"))
    # That nobody asked is told, and what came of it.
    assert (taken.requested, taken.device, taken.why) == ("", "cpu:0", "the default")


def test_that_nobody_asked_is_told_only_where_the_finding_rests_on_it() -> None:
    """An upload's or a read's requests are not recorded: what is not known is no evidence."""
    data = hop(1, "cpu:0", "cpu:1", kind="upload", op="Const", producer_op="Python", requested="")
    (way,) = proved(tables(data, STEPS), "host-upload").ways
    assert [stop.requested for stop in way.stops] == [None, None]
    assert way.stops[0].op == "Python's or numpy's data"
    pull = hop(2, "cpu:1", "cpu:0", kind="pull", producer_op="Sum", facts={"sync": "numpy"})
    (way,) = proved(tables(pull, STEPS), "host-sync").ways
    assert [(stop.op, stop.requested) for stop in way.stops] == [("Sum", None), ("Python, by numpy", None)]


@pytest.mark.parametrize(
    ("producer", "told"),
    [
        ("dot", "Made by dot at train.py:11 `y = f(x)`, ran on cpu:1"),
        ("_zeros", "Room made by _zeros at train.py:11 `y = f(x)`, ran on cpu:1"),
        ("gradient", "Made by a backward pass at train.py:11 `y = f(x)`, ran on cpu:1"),
        ("_copyto (backward)", "Made by the backward pass at train.py:11 `y = f(x)`, ran on cpu:1"),
        (
            "Custom argument",
            "Handed over by the call of an operator in Python at train.py:11 `y = f(x)`, lay on cpu:1",
        ),
    ],
)
def test_nobody_is_said_to_have_made_what_he_only_handed_over_or_made_room_for(
    producer: str, told: str
) -> None:
    facts: dict[str, Any] = {"facts": {"sync": "asnumpy"}, "producer_loc": 1, "loc": 2}
    pull = hop(2, "cpu:1", "cpu:0", kind="pull", producer_op=producer, **facts)
    assert proved(tables(pull, STEPS), "host-sync").lines()[1].strip() == told


def test_what_the_scope_around_a_call_decided_is_not_told_as_the_default() -> None:
    facts: dict[str, Any] = {
        "producer_op": "MatMul",
        "producer_requested": "cpu:2",
        "op": "AddV2",
        "graph": 4,
    }
    facts |= {"facts": {"called_on": "cpu:1"}, "requested": "", "assigned": "cpu:1"}
    (way,) = proved(tables(hop(1, "cpu:2", "cpu:1", **facts), STEPS), "explicit").ways
    assert (way.stops[1].requested, way.stops[1].why) == (None, "where its function is called")


def test_a_scope_that_a_library_opened_is_said_to_be_its() -> None:
    facts: dict[str, Any] = {"producer_requested": "cpu:2", "requested": "cpu:1", "loc": 1, "scope_loc": 1}
    facts |= {"facts": {"scope_opener": "tensorflow/python/distribute/mirrored_run.py:run"}}
    found = proved(tables(hop(1, "cpu:2", "cpu:1", **facts), STEPS), "explicit")
    assert found.ways[0].stops[1].opener.startswith("tf.distribute's own scope")
    assert any("(tf.distribute's own scope" in line for line in found.lines())


def detour() -> Tables:
    out: dict[str, Any] = {"producer_op": "MatMul", "op": "Identity", "loc": 1, "requested": "cpu:2"}
    back: dict[str, Any] = {"producer_op": "Identity", "producer_loc": 1, "op": "Relu", "loc": 2}
    asked: tuple[dict[str, Any], ...] = (
        {"producer_requested": "cpu:1"},
        {"producer_requested": "cpu:2", "requested": "cpu:1"},
    )
    return tables(
        hop(1, "cpu:1", "cpu:2", bytes=4096, **out, **asked[0]),
        hop(2, "cpu:2", "cpu:1", bytes=4096, **back, **asked[1]),
        Key(3, "op", {"op": "Identity", "loc": 1, "device": "cpu:2"}, 8),
        STEPS,
    )


def test_a_bounce_is_one_way_with_a_stop_at_each_station() -> None:
    found = proved(detour(), "bounce")
    (way,) = found.ways
    assert [(stop.role, stop.op, stop.device) for stop in way.stops] == [
        ("Made by", "MatMul", "cpu:1"),
        ("Handed on by", "Identity", "cpu:2"),
        ("Taken by", "Relu", "cpu:1"),
    ]
    assert [stop.requested for stop in way.stops] == ["cpu:1", "cpu:2", "cpu:1"]
    assert found.lines()[-1] == "In the whole run: 16 transfers, 64 KiB (estimated)"


def test_hops_of_a_bounce_are_told_as_it_and_keep_their_own_cause() -> None:
    run = detour()
    hops = hop_table(run)
    assert [hop.code for hop in hops] == ["explicit", "explicit"]
    told: list[Hop] = told_hops(hops, run_findings(run, hops, []))
    assert [(hop.code, hop.severity, hop.cause.code) for hop in told] == [
        ("bounce", "warning", "explicit"),
        ("bounce", "warning", "explicit"),
    ]
    assert hops[0].told is None


def test_equal_transfers_are_one_way_and_many_ways_are_counted() -> None:
    def one(number: int, op: str, size: int) -> Key:
        asked: dict[str, Any] = {"requested": "cpu:2", "producer_requested": "cpu:1"}
        return hop(number, "cpu:1", "cpu:2", op=op, bytes=size, tensor=f"t{number}", **asked)

    keys = [
        one(1, "Add", 100),
        one(2, "Add", 200),
        *(one(number, f"Op{number}", 80) for number in range(3, 7)),
    ]
    found = proved(tables(*keys, STEPS), "explicit")
    assert found.ways[0].moved == "2 tensors, 2.34 KiB in 16 transfers"
    assert (len(found.ways), found.left_out) == (MOST_WAYS, 5 - MOST_WAYS)
    assert "and 2 other ways" in found.lines()


def test_what_decided_stands_in_plain_words_and_one_order() -> None:
    told = alone(
        "no-kernel",
        bytes=2048,
        kernels_of="TensorFlow 2.21.0",
        kernel="no kernel of Unique for GPU",
        also_at=["train.py:11", None],
        lives_on=["cpu:1", "cpu:1"],
        requested="gpu:0",
    )
    assert told == [
        "Also at: train.py:11 `y = f(x)`",
        "Kernel lookup: no kernel of Unique for GPU",
        "Kernels of: TensorFlow 2.21.0",
        "Lives on: cpu:1",
        "In the whole run: 2 KiB",
    ]


def test_what_xla_hid_is_counted_in_words() -> None:
    told = alone("xla-opaque", function="step", ops=10, calls=8, op_executions_not_seen=80, ran_on=["cpu:0"])
    assert told == [
        "Function: step",
        "Ran on: cpu:0",
        "In the whole run: 10 ops, 8 calls, 80 executions of ops not seen",
    ]


def test_names_without_end_are_cut_and_counted() -> None:
    full = Fullness(peak_bytes={"gpu:0": 1024, "gpu:1": 0}, basis="")
    (told,) = alone("mixed-context", ops=[f"op{number}" for number in range(20)])
    assert told.endswith("op11, 8 more")
    assert shown("unbalanced", full) == ["Peak memory: gpu:0: 1 KiB, gpu:1: 0 B"]
