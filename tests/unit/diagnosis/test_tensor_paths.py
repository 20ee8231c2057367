"""Chains: tensors that go to another device and come back, or go over the host, unchanged."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from app.diagnosis.causes.bounce.paths import chains
from app.diagnosis.findings import findings, run_findings
from app.diagnosis.judge import hop_table
from app.diagnosis.proof import proof
from app.diagnosis.wording.transfer_costs import Telling
from app.facts.syncs import sync_table
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.judgments.finding import Finding
from app.judgments.judgment import Judgment
from app.store.paces import Pace, Paces
from app.views import units
from probes.trace.rows import Edge, Graph, Key, Location, Node, Process
from tests.unit.evidence_records import evidence
from tests.unit.traces import hop_fields

LOCATIONS = {
    1: Location(1, "train.py:11", None, "/src/train.py", 11, "main"),
    2: Location(2, "train.py:12", None, "/src/train.py", 12, "main"),
    3: Location(3, "train.py:13", None, "/src/train.py", 13, "main"),
    4: Location(4, "train.py:11", "mxnet/ndarray.py:array", "/src/train.py", 11, "main"),
}
STEPS = Key(90, "mark", {"name": "step"}, 8)


def tables(*keys: Key, **parts: Any) -> Tables:
    facts: dict[str, Any] = {"processes": [], "locations": LOCATIONS, "graphs": [], "unseen": []}
    return Tables(keys=list(keys), **(facts | parts))


def hop(number: int, src: str, dst: str, count: int | None = 8, **fields: Any) -> Key:
    return Key(number, "hop", hop_fields(src, dst, **fields), count)


def found(run: Tables) -> list[tuple[str, ...]]:
    return [chain.stations for chain in chains(run, hop_table(run))]


def node(number: int, name: str, op: str, device: str) -> Node:
    return Node(4, number, name, op, "", device, 1, 0)


def graph_tables(middle: str, *, back_to: str = "cpu:1") -> Tables:
    """m on cpu:1 -> r, an op of type `middle`, then t, a Transpose, both on cpu:0 -> n on `back_to`."""
    nodes = [
        node(1, "m", "MatMul", "cpu:1"),
        node(2, "r", middle, "cpu:0"),
        node(3, "t", "Transpose", "cpu:0"),
        node(4, "n", "Relu", back_to),
    ]
    edges = [
        Edge(4, 1, 0, 2, 0, 100, "float32", "25"),
        Edge(4, 2, 0, 3, 0, 100, "float32", "25"),
        Edge(4, 3, 0, 4, 0, 100, "float32", "25"),
    ]
    return tables(
        hop(1, "cpu:1", "cpu:0", graph=4, per_call=1, producer="m", consumers=["r"], op=middle, loc=1),
        hop(2, "cpu:0", back_to, graph=4, per_call=1, producer="t", consumers=["n"], op="Relu", loc=2),
        STEPS,
        graphs=[Graph(4, "f", "__inference_f_1", 1, 1, None, 8)],
        nodes_of=lambda graph: nodes,
        edges_of=lambda graph: edges,
    )


@pytest.mark.parametrize(
    ("middle", "back_to", "stations"),
    [
        ("Reshape", "cpu:1", [("cpu:1", "cpu:0", "cpu:1")]),
        ("Identity", "cpu:2", [("cpu:1", "cpu:0", "cpu:2")]),
        # What it was changed on the way is another tensor.
        ("Exp", "cpu:1", []),
    ],
)
def test_a_graphs_edges_tell_what_came_back_unchanged(
    middle: str, back_to: str, stations: list[tuple[str, ...]]
) -> None:
    assert found(graph_tables(middle, back_to=back_to)) == stations


def test_a_way_over_another_card_that_ends_elsewhere_is_no_detour() -> None:
    run = tables(
        hop(1, "cpu:1", "cpu:2", op="Identity", loc=1),
        hop(2, "cpu:2", "cpu:3", op="Relu", producer_op="Identity", producer_loc=1, loc=2),
        Key(3, "op", {"op": "Identity", "device": "cpu:2", "loc": 1}, 8),
    )
    assert found(run) == []


@pytest.mark.parametrize(("ran", "stations"), [(8, [("cpu:1", "cpu:2", "cpu:1")]), (9, [])])
def test_an_eager_op_that_also_moved_another_tensor_decides_nothing(
    ran: int, stations: list[tuple[str, ...]]
) -> None:
    """WHEN the op ran once more than tensors came to it THEN which one went on is not known."""
    run = tables(
        hop(1, "cpu:1", "cpu:2", op="Identity", loc=1),
        hop(2, "cpu:2", "cpu:1", op="Relu", producer_op="Identity", producer_loc=1, loc=2),
        Key(3, "op", {"op": "Identity", "device": "cpu:2", "loc": 1}, ran),
    )
    assert found(run) == stations


def test_a_changed_size_is_another_tensor() -> None:
    run = tables(
        hop(1, "cpu:1", "cpu:2", op="Identity", loc=1),
        hop(2, "cpu:2", "cpu:1", op="Relu", producer_op="Identity", producer_loc=1, loc=2, bytes=50),
        Key(3, "op", {"op": "Identity", "device": "cpu:2", "loc": 1}, 8),
    )
    assert found(run) == []


def python_detour(pulled_from: str = "cpu:1", **sent: Any) -> Tables:
    """``mx.nd.array(h.asnumpy(), ctx=mx.cpu(2))``: the library's frames differ on the two ways."""
    upload: dict[str, Any] = {"kind": "upload", "op": "Python", "producer_op": "Python", "loc": 4}
    return tables(
        hop(1, "cpu:1", "cpu:0", kind="pull", op="Python", producer_op="dot", loc=1, producer_loc=3),
        hop(2, "cpu:0", "cpu:2", producer_loc=4, facts={"pulled_from": pulled_from}, **(upload | sent)),
        Key(3, "sync", {"device": "cpu:1", "kind": "asnumpy", "loc": 1, "basis": "measured"}, 8),
        STEPS,
    )


def test_an_array_that_python_took_and_sent_again_went_over_the_host() -> None:
    assert found(python_detour()) == [("cpu:1", "cpu:0", "cpu:2")]
    assert found(python_detour(pulled_from="cpu:3")) == []
    assert found(python_detour(bytes=50)) == []


def test_an_array_that_was_changed_at_times_came_back_the_same_by_chance() -> None:
    run = python_detour()
    facts = {"changed_from": "cpu:1"}
    upload: dict[str, Any] = {"kind": "upload", "op": "Python", "producer_op": "Python", "producer_loc": 4}
    changed = hop(7, "cpu:0", "cpu:2", count=1, loc=4, facts=facts, **upload)
    elsewhere = hop(8, "cpu:0", "cpu:2", count=1, loc=2, facts=facts, **upload)
    assert found(Tables(**{**vars(run), "keys": [*run.keys, elsewhere]})) == [("cpu:1", "cpu:0", "cpu:2")]
    both = Tables(**{**vars(run), "keys": [*run.keys, changed]})
    assert [one.code for one in run_findings(both, hop_table(both), [])] == ["host-sync", "host-upload"]


def sent_on(times: int, fact: str = "pulled_from") -> Tables:
    """``step(tf.constant(state))``, which took ``state.numpy()`` of each call but the first one's."""
    way: dict[str, Any] = {"graph": 4, "tensor": "state:0"}
    sent: dict[str, Any] = {"loc": 2, "producer_loc": 3, "op": "MatMul", "producer_op": "Const"}
    return tables(
        hop(1, "cpu:1", "cpu:0", kind="pull", op="Python", producer_op="step", loc=1, producer_loc=3),
        hop(2, "cpu:0", "cpu:1", kind="arg", **way, **sent),
        Key(3, "pulled", {**way, "dst": "cpu:1", "pulled_loc": 1, "facts": {fact: "cpu:1"}}, times),
        Key(4, "sync", {"device": "cpu:1", "kind": "numpy", "loc": 1, "basis": "measured"}, 8),
        STEPS,
    )


def test_of_a_functions_argument_those_go_on_that_were_made_of_what_python_took() -> None:
    """Bug: a state kept in numpy was told as two things where ``tf.constant`` stands in no device scope."""
    run = sent_on(7)
    hops = hop_table(run)
    assert [(chain.stations, chain.counts) for chain in chains(run, hops)] == [
        (("cpu:1", "cpu:0", "cpu:1"), (7, 7))
    ]
    detour = next(one for one in run_findings(run, hops, []) if one.severity == "warning")
    assert (detour.code, detour.evidence.row()["tensor_again_at"]) == ("bounce", "train.py:13")
    assert found(sent_on(0)) == []
    assert found(sent_on(7, "changed_from")) == []


def test_an_eager_tensor_of_the_host_sends_an_array_on() -> None:
    way: dict[str, Any] = {"op": "MatMul", "producer_op": "Const", "producer_loc": 3, "pulled_loc": 1}
    run = python_detour()
    sent = hop(2, "cpu:0", "cpu:2", loc=2, facts={"pulled_from": "cpu:1"}, **way)
    changed = hop(7, "cpu:0", "cpu:2", count=1, loc=2, facts={"changed_from": "cpu:1"}, **way)
    keys = [sent if key.id == 2 else key for key in run.keys]
    assert found(Tables(**{**vars(run), "keys": keys})) == [("cpu:1", "cpu:0", "cpu:2")]
    assert found(Tables(**{**vars(run), "keys": [*keys, changed]})) == []


def counted(out: int, back: int) -> Tables:
    """The detour over Python where its transfers were so many."""
    run = python_detour()
    counts = {1: out, 2: back}
    keys = [dataclasses.replace(key, count=counts.get(key.id, key.count)) for key in run.keys]
    return Tables(**{**vars(run), "keys": keys})


def test_what_went_out_more_often_than_it_came_back_is_told_apart() -> None:
    """Bug: three values taken of which one was sent on were a detour of four transfers."""
    run = counted(out=3, back=1)
    hops = hop_table(run)
    assert [chain.counts for chain in chains(run, hops)] == [(1, 1)]
    detour, taken = sorted(run_findings(run, hops, []), key=lambda one: one.code)
    assert (detour.code, detour.evidence.row()["transfers"], detour.evidence.row()["bytes"]) == (
        "bounce",
        2,
        200,
    )
    assert (taken.code, taken.evidence.row()["transfers"], taken.evidence.row()["bytes"]) == (
        "host-sync",
        2,
        200,
    )
    assert (detour.hops, taken.hops) == ((0, 1), (0,))
    ways = [way.moved for one in (detour, taken) for way in proof(one, hops, str).ways]
    assert ways == [f"100 B {units.TIMES} 1 on each leg", f"100 B {units.TIMES} 2"]


@pytest.mark.parametrize(("back", "recurs"), [(2, "host-sync"), (7, "bounce")])
def test_of_what_is_taken_each_step_the_larger_part_is_a_warning(back: int, recurs: str) -> None:
    run = counted(out=8, back=back)
    told = {one.code: one.severity for one in run_findings(run, hop_table(run), [])}
    assert told == {"host-sync": "info", "bounce": "info", recurs: "warning"}


def test_what_is_taken_once_and_sent_each_step_went_out_once() -> None:
    run = counted(out=1, back=8)
    hops = hop_table(run)
    assert [chain.counts for chain in chains(run, hops)] == [(1, 8)]
    (finding,) = run_findings(run, hops, [])
    assert finding.evidence.row()["transfers"] == 9
    (way,) = proof(finding, hops, str).ways
    assert way.moved == f"100 B {units.TIMES} 1 on the first leg, 100 B {units.TIMES} 8 on the last"


def test_what_comes_back_is_of_as_many_as_it_is() -> None:
    """GIVEN two tensors that one line takes, and one that is sent on each time THEN one was for nothing."""
    run = python_detour()
    other = hop(7, "cpu:1", "cpu:0", kind="pull", op="Python", producer_op="relu", loc=1, producer_loc=3)
    both = Tables(**{**vars(run), "keys": [*run.keys, other]})
    hops = hop_table(both)
    assert [chain.counts for chain in chains(both, hops)] == [(8, 8)]
    assert [one.code for one in run_findings(both, hops, [])] == ["bounce", "host-sync"]


def test_what_python_sends_and_takes_again_is_no_detour_of_its_own() -> None:
    run = tables(
        hop(1, "cpu:0", "cpu:1", kind="upload", op="Identity", loc=1),
        hop(2, "cpu:1", "cpu:0", kind="pull", op="Python", producer_op="Identity", producer_loc=1, loc=2),
        Key(3, "op", {"op": "Identity", "device": "cpu:1", "loc": 1}, 8),
    )
    assert found(run) == []


def test_a_detour_is_one_finding_with_what_both_ways_cost() -> None:
    """GIVEN a value that Python takes and sends on WHEN told THEN as a chain, and as nothing else."""
    run = python_detour()
    hops, syncs = hop_table(run), sync_table(run)
    (finding,) = run_findings(run, hops, syncs)
    assert (finding.code, finding.severity, finding.site, finding.hops) == (
        "bounce",
        "warning",
        "train.py:11",
        (0, 1),
    )
    assert finding.summary == (
        "A tensor goes cpu:1 → cpu:0 → cpu:2 through Python, over the host, at train.py:11: 200 B each step."
    )
    assert finding.evidence.row()["stations"] == ["cpu:1", "cpu:0", "cpu:2"]
    assert finding.evidence.row()["causes"] == ["host-sync", "host-upload"]
    assert finding.fix == (
        "Keep the tensor on cpu:1, or copy it from there straight to where it is used. Python need not"
        " read it: pass the tensor itself on."
    )


def test_many_tensors_on_the_same_way_are_one_finding() -> None:
    keys = []
    for number in range(3):
        out: dict[str, Any] = {"op": "Identity", "loc": 1, "bytes": 1000 + number}
        back = out | {"op": "Relu", "loc": 2, "producer_op": "Identity", "producer_loc": 1}
        keys += [
            hop(10 + number, "cpu:1", "cpu:2", tensor=f"x{number}", **out),
            hop(20 + number, "cpu:2", "cpu:1", tensor=f"y{number}", **back),
        ]
    run = tables(*keys, Key(3, "op", {"op": "Identity", "device": "cpu:2", "loc": 1}, 24), STEPS)
    (finding,) = [one for one in run_findings(run, hop_table(run), []) if one.code == "bounce"]
    assert finding.evidence.row()["tensors"] == 3
    assert finding.evidence.row()["lines"] == ["train.py:11", "train.py:12"]
    assert finding.summary == (
        "3 tensors go cpu:1 → cpu:2 → cpu:1 unchanged, out at train.py:11 and back at train.py:12:"
        " 5.87 KiB each step."
    )


STATES = [
    hop(1, "cpu:1", "cpu:0", 28, kind="pull", op="Python", producer_op="RNN", loc=1, producer_loc=2),
    hop(2, "cpu:1", "cpu:0", 4, kind="pull", op="Python", producer_op="_zeros", loc=1, producer_loc=3),
    hop(
        3,
        "cpu:0",
        "cpu:1",
        32,
        kind="upload",
        op="Python",
        producer_op="Python",
        loc=1,
        producer_loc=1,
        facts={"pulled_from": "cpu:1"},
    ),
]
"""Two states that go over the host in each of 16 steps; the first ones of two epochs begin anew."""
EPOCH = 1 << 7
"""The second epoch's first step, of the 15 after the first one."""
ALL = (1 << 15) - 1


def of_states(*paces: Pace) -> tuple[Finding, list[Hop]]:
    by_key = dict(enumerate(paces, 1))
    steps = Key(90, "mark", {"name": "step"}, 16)
    run = tables(*STATES, steps, paces=Paces(by_key, {0: Pace(seen=15)}))
    hops = hop_table(run)
    (finding,) = run_findings(run, hops, [])
    return finding, hops


def test_what_comes_from_another_op_in_some_steps_is_of_every_step() -> None:
    """Bug: 75 B each step and 400 B more, of 100 B in each of 16 steps: the parts were judged alone."""
    finding, hops = of_states(
        Pace(within=28, mask=ALL ^ EPOCH, seen=15),
        Pace(early=2, within=2, mask=EPOCH, seen=15),
        Pace(early=2, within=30, mask=ALL, seen=15),
    )
    assert [hop.each for hop in hops] == [1.75, 0.25, 2.0]
    assert finding.summary == (
        "2 tensors go cpu:1 → cpu:0 → cpu:1 through Python, at train.py:11: 400 B each step."
    )
    (way,) = proof(finding, hops, lambda site: "").ways
    assert way.moved == f"100 B {units.TIMES} 32 on each leg"


@pytest.mark.parametrize(
    ("made", "anew"),
    [
        # The one is of every step by itself: the others are something else, as of an evaluation.
        (Pace(early=1, within=27, mask=ALL, seen=15), Pace(early=1, within=3, mask=EPOCH, seen=15)),
        # There are steps in which neither is.
        (Pace(within=28, mask=ALL ^ EPOCH, seen=15), Pace(early=4, seen=15)),
        # As many in each step they are not.
        (Pace(within=16, mask=ALL ^ EPOCH, seen=15), Pace(early=2, within=2, mask=EPOCH, seen=15)),
    ],
)
def test_what_does_not_stand_in_for_another_is_judged_alone(made: Pace, anew: Pace) -> None:
    _, hops = of_states(made, anew, Pace(early=2, within=30, mask=ALL, seen=15))
    assert [hop.each for hop in hops[:2]] == [1.0, 0.0]


def test_tensors_that_are_fetched_again_and_again_are_told_with_both_numbers() -> None:
    """Bug: 14 that a queue held, made at two lines, were two, and what a full queue sends was left out."""
    out: dict[str, Any] = {"op": "_copyto", "loc": 1, "bytes": 1000, "producer_op": "L2Normalization"}
    out |= {"facts": {"copy_call": "as_in_context"}}
    back = out | {"loc": 2, "producer_op": "_copyto", "producer_loc": 1}
    back |= {"copied_from": "cpu:1", "copy_loc": 1}
    run = tables(
        hop(1, "cpu:1", "cpu:0", 8, producer_loc=2, **out),
        hop(2, "cpu:1", "cpu:0", 1, producer_loc=3, **out),
        hop(3, "cpu:0", "cpu:1", 26, **back),
        STEPS,
    )
    (finding,) = [one for one in run_findings(run, hop_table(run), []) if one.code == "bounce"]
    assert finding.evidence.row()["tensors"] == 1
    assert finding.summary == (
        "Tensors go cpu:1 → cpu:0 → cpu:1 unchanged, out at train.py:11, 9\u00d7, and back at train.py:12,"
        " 26\u00d7: 34.2 KiB in the whole run, about 4.27 KiB a step."
    )


def test_tensors_of_several_cards_that_go_the_same_lines_are_one_finding() -> None:
    """Bug: each card had a warning of its own, and their fixes contradicted each other."""
    keys, nodes = [], []
    for number, card in enumerate(("cpu:1", "cpu:2"), 1):
        out, back = f"i{number}", f"r{number}"
        nodes += [node(number, out, "Identity", "cpu:0"), node(10 + number, back, "_Retval", card)]
        known: dict[str, Any] = {"graph": 4, "per_call": 1, "loc": 1}
        passes: dict[str, Any] = {"consumers": [out], "op": "Identity", "facts": {"result": True}}
        on: dict[str, Any] = {"producer": out, "consumers": [back], "op": "_Retval"}
        keys += [
            hop(10 + number, card, "cpu:0", assigned="cpu:0", **known, **passes),
            hop(20 + number, "cpu:0", card, **known, **on, facts={"producer_result": True}),
        ]
    graphs = [Graph(4, "f", "__inference_f_1", 1, 1, None, 8)]
    run = tables(*keys, STEPS, graphs=graphs, nodes_of=lambda _: nodes, edges_of=lambda _: [])
    hops = hop_table(run)
    (both,) = run_findings(run, hops, [])
    assert (both.code, both.severity, sorted(both.hops)) == ("bounce", "warning", [0, 1, 2, 3])
    assert both.summary == (
        "2 tensors go cpu:1 → cpu:0 → cpu:1 and cpu:2 → cpu:0 → cpu:2 unchanged, at train.py:11:"
        " 400 B each step."
    )
    assert both.evidence.row()["ways"] == [["cpu:1", "cpu:0", "cpu:1"], ["cpu:2", "cpu:0", "cpu:2"]]
    assert both.fix is not None
    assert "cpu:" not in both.fix
    ways = proof(both, hops, lambda site: "").ways
    assert [[stop.device for stop in way.stops] for way in ways] == both.evidence.row()["ways"]


def test_gradients_that_take_the_same_way_back_are_of_the_same_finding() -> None:
    back: dict[str, Any] = {"loc": 2, "forward_loc": 1, "op": "_copyto (backward)"}
    run = tables(
        hop(1, "cpu:2", "cpu:0", op="Identity", loc=1),
        hop(2, "cpu:0", "cpu:1", op="Relu", producer_op="Identity", producer_loc=1, loc=1),
        hop(3, "cpu:1", "cpu:0", **back, producer_op="_copyto (backward)"),
        hop(4, "cpu:0", "cpu:2", **back, producer_op="_copyto (backward)"),
        hop(5, "cpu:0", "cpu:2", **back, producer_op="dot (backward)", bytes=7),
        Key(6, "op", {"op": "Identity", "device": "cpu:0", "loc": 1}, 8),
        STEPS,
    )
    hops = [
        dataclasses.replace(one, cause=Judgment("explicit", one.cause.severity, evidence("explicit")))
        for one in hop_table(run)
    ]
    both, *others = findings(hops, [], [], Telling(8, "step"), detours=chains(run, hops))
    assert (both.code, sorted(hops[row].keys for row in both.hops)) == ("bounce", [(1,), (2,), (3,), (4,)])
    assert both.evidence.row()["gradients_back_at"] == ["train.py:12"]
    assert both.evidence.row()["bytes"] == 4 * 8 * 100
    assert both.summary.endswith("400 B each step, its gradients the same way back among them.")
    assert [hops[row].bytes for one in others for row in one.hops] == [7]


def test_a_detour_that_happens_seldom_is_a_note() -> None:
    run = graph_tables("Reshape")
    hops = hop_table(run)
    once = findings(hops, [], [], telling=Telling(100, "step"), detours=chains(run, hops))
    assert [one.severity for one in once] == ["info"]


def test_a_detour_in_a_loop_beside_the_steps_is_none_of_theirs_and_a_mistake_still() -> None:
    """Bug: training in the same program made a note of it."""
    run = graph_tables("Reshape")
    hops = hop_table(run)
    beside = findings(hops, [], [], telling=Telling(12, "step"), detours=chains(run, hops))
    assert [(one.code, one.severity) for one in beside] == [("bounce", "warning")]


def test_a_scope_that_was_forgotten_stays_one_mistake() -> None:
    """GIVEN an op on the default device with two inputs from elsewhere, of which one comes back unchanged
    THEN the missing scope is told, once, and no detour."""
    run = graph_tables("Reshape")
    more = hop(3, "cpu:1", "cpu:0", graph=4, per_call=1, producer="w", consumers=["r"], op="Reshape", loc=1)
    both = Tables(**{**vars(run), "keys": [*run.keys, more]})
    codes = [one.code for one in run_findings(both, hop_table(both), [])]
    assert "bounce" not in codes
    assert codes.count("default-device") == 1


@pytest.mark.parametrize("own", [True, False])
def test_what_an_op_without_a_scope_hands_on_to_two_lines_is_one_detour(own: bool) -> None:
    """Bug: what tf.recompute_grad's Identity handed on to a second line was a warning of its own."""
    via = "tensorflow/python/ops/custom_gradient.py:__call__" if own else "tensorflow/python/util/dispatch.py"
    sites = LOCATIONS | {5: Location(5, "train.py:15", via, "/src/train.py", 15, "main")}
    out: dict[str, Any] = {"op": "Identity", "loc": 5, "producer_op": "AddV2", "producer_requested": "cpu:1"}
    back: dict[str, Any] = {"producer_op": "Identity", "producer_loc": 5, "requested": "cpu:1"}
    run = tables(
        hop(1, "cpu:1", "cpu:0", 16, **out),
        hop(2, "cpu:0", "cpu:1", op="MatMul", loc=1, **back),
        hop(3, "cpu:0", "cpu:1", op="Sub", loc=3, **back),
        Key(4, "op", {"op": "Identity", "device": "cpu:0", "loc": 5}, 16),
        STEPS,
        locations=sites,
    )
    (one,) = run_findings(run, hop_table(run), [])
    assert (one.code, one.severity, one.site, one.hops) == ("bounce", "warning", "train.py:15", (0, 1, 2))
    assert one.summary == (
        "2 tensors go cpu:1 → cpu:0 → cpu:1 unchanged, out at train.py:15 and back at train.py:11 and"
        " train.py:13: 400 B each step."
    )
    assert (one.evidence.row()["bytes"], one.shares) == (32 * 100, {})
    said = "Call the function inside the device scope of cpu:1" if own else "Keep the tensor on cpu:1"
    assert (one.fix or "").startswith(said)


def test_tensors_of_several_sizes_that_nobodys_op_hands_on_are_one_missing_scope() -> None:
    via = "tensorflow/python/ops/custom_gradient.py:__call__"
    sites = LOCATIONS | {5: Location(5, "train.py:15", via, "/src/train.py", 15, "main")}
    keys = [STEPS, Key(3, "op", {"op": "Identity", "device": "cpu:0", "loc": 5}, 16)]
    for number, (line, size) in enumerate([(1, 1000), (3, 3000)]):
        out: dict[str, Any] = {"op": "Identity", "loc": 5, "producer_op": "AddV2", "bytes": size}
        back: dict[str, Any] = {"producer_op": "Identity", "producer_loc": 5, "requested": "cpu:1"}
        keys += [
            hop(10 + number, "cpu:1", "cpu:0", **out),
            hop(20 + number, "cpu:0", "cpu:1", op="Sub", loc=line, bytes=size, **back),
        ]
    run = tables(*keys, locations=sites)
    (one,) = run_findings(run, hop_table(run), [])
    assert (one.code, one.site, sorted(one.hops)) == ("default-device", "train.py:15", [0, 1, 2, 3])
    assert (one.fix or "").startswith("Call the function inside the device scope of cpu:1")


@pytest.mark.parametrize("size", [100, 4])
def test_a_result_that_passes_the_default_device_is_told_how_to_call_the_function(size: int) -> None:
    """Of a scalar it is a note that needs no change: of two alike one got code, the other words."""
    run = tables(
        hop(1, "cpu:1", "cpu:0", op="Identity", loc=1, bytes=size),
        hop(2, "cpu:0", "cpu:1", op="_Retval", producer_op="Identity", producer_loc=1, loc=1, bytes=size),
        Key(3, "op", {"op": "Identity", "device": "cpu:0", "loc": 1}, 8),
        STEPS,
    )
    (finding,) = [one for one in run_findings(run, hop_table(run), []) if one.code == "bounce"]
    if size == 4:
        assert (finding.severity, finding.recurs, finding.fix) == ("info", True, None)
    else:
        assert (finding.fix or "").startswith("Call the function inside the device scope of cpu:1:")


def test_a_card_that_is_not_there_is_one_mistake_of_one_line() -> None:
    """GIVEN an op that asks for a missing card THEN what it takes and gives is told once, at its line."""
    process = Process(0, 1, "main", "tensorflow", None, None, None, 0, 0, ["cpu:0", "cpu:1"], {}, True, {})
    asked: dict[str, Any] = {"requested": "gpu:1", "op": "Relu", "loc": 1, "producer_requested": "cpu:1"}
    result: dict[str, Any] = {
        "requested": "cpu:1",
        "producer_requested": "gpu:1",
        "producer_loc": 1,
        "loc": 2,
    }
    run = tables(
        hop(1, "cpu:1", "cpu:0", **asked), hop(2, "cpu:0", "cpu:1", **result), STEPS, processes=[process]
    )
    (finding,) = run_findings(run, hop_table(run), [])
    assert (finding.code, finding.site, finding.hops) == ("missing-device", "train.py:11", (0, 1))
