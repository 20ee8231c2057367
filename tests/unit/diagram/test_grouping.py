"""The placement diagram's content: few groups, every crossing, places that stay."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import pytest

from app.diagnosis.judge import hop_table
from app.diagram import grouping
from app.diagram.grouped_graph import MOST_CROSSINGS, MOST_GROUPS, TARGET
from app.diagram.grouping import MOST_COLUMNS, graph_choices, placement_diagram
from app.diagram.name_scopes import Cut, Item, choose_depth, find_series
from app.diagram.ranks import group_ranks, longest_paths, sequence_ranks
from app.facts.collectives import collective_table
from app.facts.placement import placement
from app.facts.tables import Tables
from app.facts.transfers.device_matrix import device_matrix
from app.views.placement_data import Diagram, Group
from probes.trace.rows import Edge, Graph, Key, Location, Node, Process
from tests.unit.traces import hop_fields

LOCATIONS = {n: Location(n, f"pkg/train.py:{n}", None, "/src/pkg/train.py", n, "step") for n in range(1, 9)}


class Drawn:
    """A graph by hand: ops in order, each taking the one before, and a hop wherever the device changes."""

    def __init__(self, *ops: tuple[str, str, str], calls: int = 10) -> None:
        """`ops` are (name, type, device)."""
        self.graph = Graph(1, "train_step", "f", 1, 1, None, calls)
        self.nodes = [
            Node(1, n, name, op, device, device, 1 + n % 8, 0) for n, (name, op, device) in enumerate(ops, 1)
        ]
        self.edges: list[Edge] = []
        self.keys: list[Key] = [Key(1, "call", {"graph": 1, "function": "train_step"}, calls)]
        for src, dst in zip(self.nodes, self.nodes[1:], strict=False):
            self.edge(src.node, dst.node)
            if src.assigned != dst.assigned:
                self.hop(src.node, dst.node)

    def edge(self, src: int, dst: int) -> None:
        self.edges.append(Edge(1, src, 0, dst, 0, 100, "float32", "25"))

    def hop(self, src: int, dst: int, count: int | None = 10, **fields: Any) -> None:
        producer, consumer = self.nodes[src - 1], self.nodes[dst - 1]
        facts = {"producer": producer.name, "consumers": [consumer.name], "op": consumer.op, "graph": 1}
        facts |= {"tensor": f"{producer.name}:0", "per_call": 1, "loc": consumer.loc}
        facts |= {"requested": consumer.assigned, "producer_requested": producer.assigned}
        fields = hop_fields(producer.assigned, consumer.assigned, **(facts | fields))
        self.keys.append(Key(len(self.keys) + 1, "hop", fields, count))

    @property
    def tables(self) -> Tables:
        return Tables(
            [], LOCATIONS, [self.graph], self.keys, [], {}, lambda graph: self.nodes, lambda graph: self.edges
        )

    def diagram(self, *expanded: str, target: int = TARGET) -> Diagram:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(grouping, "TARGET", target)
            return placement_diagram(self.tables, hop_table(self.tables), None, expanded)


def by_scope(diagram: Diagram) -> dict[tuple[str, str], Group]:
    return {(group.device, group.scope): group for group in diagram.groups}


def layers(count: int, devices: int, ops: tuple[str, ...] = ("MatMul", "BiasAdd", "Relu")) -> Drawn:
    """`count` equal layers, evenly over `devices`."""
    return Drawn(
        *(
            (f"model/layer_{layer}/{op}", op, f"cpu:{1 + layer * devices // count}")
            for layer in range(count)
            for op in ops
        )
    )


def test_a_small_graph_is_drawn_op_by_op() -> None:
    diagram = layers(2, 2).diagram()
    assert [(group.device, group.label, group.kind, group.ops, group.rank) for group in diagram.groups] == [
        ("cpu:1", "MatMul", "op", 1, 0),
        ("cpu:1", "BiasAdd", "op", 1, 1),
        ("cpu:1", "Relu", "op", 1, 2),
        ("cpu:2", "MatMul", "op", 1, 3),
        ("cpu:2", "BiasAdd", "op", 1, 4),
        ("cpu:2", "Relu", "op", 1, 5),
    ]
    assert [(lane.device, lane.ops) for lane in diagram.lanes] == [("cpu:1", 3), ("cpu:2", 3)]
    (crossing,) = diagram.crossings
    assert crossing.src_group == "1|cpu:1|model/layer_0/Relu"
    assert crossing.dst_group == "1|cpu:2|model/layer_1/MatMul"
    assert (crossing.bytes_total, crossing.count, crossing.hops, crossing.cause) == (
        1000,
        10,
        (0,),
        "explicit",
    )
    assert crossing.tensors == ("model/layer_0/Relu:0",)
    assert (diagram.depth, diagram.ranks, diagram.truncated_note) == (3, 6, "")
    assert {group.id: group.hops for group in diagram.groups if group.hops} == {
        "1|cpu:1|model/layer_0/Relu": 1,
        "1|cpu:2|model/layer_1/MatMul": 1,
    }


def test_the_scope_depth_follows_from_the_number_of_groups() -> None:
    diagram = layers(6, 2).diagram(target=6)
    assert diagram.depth == 2
    assert [(group.label, group.kind, group.ops) for group in diagram.groups] == [
        (f"layer_{layer}", "scope", 3) for layer in range(6)
    ]
    group = diagram.groups[0]
    assert (group.scope, group.expandable, group.expand) == ("model/layer_0", True, "1|model/layer_0")
    assert group.op_histogram == (("MatMul", 1), ("BiasAdd", 1), ("Relu", 1))
    assert [member.name for member in group.members] == [
        "model/layer_0/MatMul",
        "model/layer_0/BiasAdd",
        "model/layer_0/Relu",
    ]
    assert group.member_ids == (1, 2, 3)
    assert [(link.src_group[-7:], link.dst_group[-7:], link.edges) for link in diagram.links] == [
        ("layer_0", "layer_1", 1),
        ("layer_1", "layer_2", 1),
        ("layer_3", "layer_4", 1),
        ("layer_4", "layer_5", 1),
    ]


def test_a_group_opens_one_level_and_the_others_stay() -> None:
    drawn = layers(6, 2)
    before = {group.id for group in drawn.diagram(target=6).groups}
    after = {group.id for group in drawn.diagram("1|model/layer_1", target=6).groups}
    assert before - after == {"1|cpu:1|model/layer_1"}
    assert after - before == {f"1|cpu:1|model/layer_1/{op}" for op in ("MatMul", "BiasAdd", "Relu")}


def test_what_is_opened_must_be_there() -> None:
    drawn = layers(6, 2)
    assert drawn.diagram("1|nothing", "eager|model", "", target=6) == drawn.diagram(target=6)


def test_equal_blocks_are_folded_a_device() -> None:
    """GIVEN 24 equal layers on 2 devices, too many to be drawn THEN there are two series of 12."""
    diagram = layers(24, 2).diagram(target=10)
    assert [
        (group.label, group.kind, group.scope, group.ops, len(group.series)) for group in diagram.groups
    ] == [
        ("MatMul \u00d712", "scope", "model/layer_[0..11]/MatMul", 12, 12),
        ("BiasAdd \u00d712", "scope", "model/layer_[0..11]/BiasAdd", 12, 12),
        ("Relu \u00d712", "scope", "model/layer_[0..11]/Relu", 12, 12),
        ("MatMul \u00d712", "scope", "model/layer_[12..23]/MatMul", 12, 12),
        ("BiasAdd \u00d712", "scope", "model/layer_[12..23]/BiasAdd", 12, 12),
        ("Relu \u00d712", "scope", "model/layer_[12..23]/Relu", 12, 12),
    ]
    diagram = layers(24, 2).diagram(target=4)
    assert [(group.label, group.kind) for group in diagram.groups] == [
        ("layer \u00d712", "series"),
        ("layer \u00d712", "series"),
    ]
    (crossing,) = diagram.crossings
    assert crossing.dst_group == "1|cpu:2|model/layer_[12..23]"


def test_a_series_opens_into_its_members() -> None:
    diagram = layers(24, 2).diagram("1|model/layer_[0..11]", target=4)
    labels = Counter((group.device, group.label) for group in diagram.groups)
    assert labels == Counter(
        [*(("cpu:1", f"layer_{layer}") for layer in range(12)), ("cpu:2", "layer \u00d712")]
    )


def test_blocks_that_differ_are_not_folded() -> None:
    ops = [
        (f"layer_{n}/{'Relu' if n == 5 else 'Tanh'}", "Relu" if n == 5 else "Tanh", "cpu:1")
        for n in range(12)
    ]
    items = [Item(n, tuple(name.split("/")), op, device) for n, (name, op, device) in enumerate(ops)]
    assert {series.name for series in find_series(items).values()} == {"layer_[0..4]", "layer_[6..11]"}


def test_blocks_out_of_a_row_are_not_folded() -> None:
    items = [Item(n, (f"layer_{n}", "Relu"), "Relu", "cpu:1") for n in (1, 2, 3, 7, 8, 9, 20)]
    assert find_series(items) == {}


def test_ops_without_scopes_are_folded_by_name() -> None:
    drawn = Drawn(*((f"MatMul_{n}", "MatMul", "cpu:1") for n in range(1, 401)))
    diagram = drawn.diagram()
    assert [(group.label, group.kind, group.ops) for group in diagram.groups] == [
        ("MatMul \u00d7400", "series", 400)
    ]
    assert len(diagram.groups[0].members) == 50
    assert len(diagram.groups[0].member_ids) == 400


def test_a_graph_without_any_pattern_still_fits() -> None:
    """GIVEN 2,000 ops in as many top-level scopes THEN at most 300 groups stand for all of them."""
    drawn = Drawn(
        *((f"{chr(97 + n % 26)}{n * 7919}x/op", f"Op{n % 9}", f"cpu:{1 + n % 3}") for n in range(2000))
    )
    diagram = drawn.diagram()
    assert len(diagram.groups) <= MOST_GROUPS
    assert len(diagram.crossings) <= MOST_CROSSINGS
    assert sum(group.ops for group in diagram.groups) == 2000
    assert "drawn as one a device" in diagram.truncated_note
    drawn_ids = {group.id for group in diagram.groups}
    assert all({c.src_group, c.dst_group} <= drawn_ids for c in diagram.crossings)


def test_a_scope_on_two_devices_is_two_groups_that_know_of_each_other() -> None:
    diagram = Drawn(("a/x", "X", "cpu:1"), ("a/y", "Y", "cpu:2"), ("a/z", "Z", "cpu:2")).diagram(target=1)
    groups = by_scope(diagram)
    assert groups[("cpu:1", "a")].device_histogram == (("cpu:2", 2), ("cpu:1", 1))
    assert groups[("cpu:2", "a")].ops == 2


def test_a_variable_that_is_read_for_an_op_elsewhere_does_not_pass_for_that_op() -> None:
    drawn = Drawn(
        ("add/ReadVariableOp", "ReadVariableOp", "cpu:0"),
        ("add", "AddV2", "cpu:1"),
        ("mul/ReadVariableOp", "ReadVariableOp", "cpu:1"),
    )
    labels = {(group.label, group.device) for group in drawn.diagram(target=1).groups}
    assert labels == {("for add", "cpu:0"), ("add", "cpu:1"), ("for mul", "cpu:1")}


def test_parallel_transfers_are_one_crossing() -> None:
    drawn = Drawn(("a/x", "X", "cpu:1"), ("b/y", "Y", "cpu:2"), ("a/z", "Z", "cpu:1"))
    drawn.hop(1, 2, bytes=7, tensor="small")
    drawn.hop(1, 2, None, bytes=7, tensor="unobserved", per_call=None)
    diagram = drawn.diagram(target=1)
    there, back = sorted(diagram.crossings, key=lambda crossing: crossing.src_device)
    assert (there.src_group, there.dst_group) == ("1|cpu:1|a", "1|cpu:2|b")
    assert (there.bytes_total, there.bytes_known, there.count) == (None, 1070, None)
    assert (there.basis, there.hops) == ("unknown", (0, 2, 3))
    assert there.tensors == ("a/x:0", "small", "unobserved")
    assert (back.bytes_total, back.count) == (1000, 10)
    assert {group.scope: group.hops for group in diagram.groups} == {"a": 4, "b": 4}


def test_the_worst_cause_colours_a_crossing() -> None:
    drawn = Drawn(("a/x", "X", "cpu:1"), ("b/y", "Y", "cpu:0"))
    drawn.hop(1, 2, tensor="t2", requested="")
    (crossing,) = drawn.diagram(target=1).crossings
    assert (crossing.cause, crossing.severity) == ("default-device", "warning")


def test_hops_that_never_happened_are_not_drawn() -> None:
    drawn = Drawn(("a/x", "X", "cpu:1"), ("b/y", "Y", "cpu:2"))
    drawn.keys.pop()
    drawn.hop(1, 2, 0)
    diagram = drawn.diagram()
    assert diagram.crossings == ()
    assert [group.hops for group in diagram.groups] == [0, 0]


def test_arguments_and_results_are_groups_that_are_no_ops() -> None:
    drawn = Drawn(("images", "_Arg", "cpu:0"), ("a/x", "X", "cpu:1"), ("out", "_Retval", "cpu:0"))
    diagram = drawn.diagram()
    assert [(group.label, group.kind, group.ops, group.device) for group in diagram.groups] == [
        ("x", "op", 1, "cpu:1"),
        ("arguments", "input", 0, "cpu:0"),
        ("results", "output", 0, "cpu:0"),
    ]
    assert [group.rank for group in diagram.groups] == [1, 0, 2]
    assert [lane.device for lane in diagram.lanes] == ["cpu:1", "cpu:0"]
    assert [lane.ops for lane in diagram.lanes] == [1, 0]


def test_a_constant_stands_with_the_op_that_it_feeds() -> None:
    drawn = Drawn(("a/x", "X", "cpu:1"), ("a/y", "Y", "cpu:1"))
    drawn.nodes += [
        Node(1, 3, "a/one", "Const", "cpu:1", "cpu:1", 1, 0),
        Node(1, 4, "a/read", "ReadVariableOp", "cpu:2", "cpu:2", 1, 0),
        Node(1, 5, "a/shared", "Const", "cpu:1", "cpu:1", 1, 0),
    ]
    for src, dst in ((3, 2), (4, 2), (5, 1), (5, 2)):
        drawn.edge(src, dst)
    groups = by_scope(drawn.diagram())
    assert groups[("cpu:1", "a/y")].ops == 2
    assert groups[("cpu:1", "a/y")].kind == "op"
    assert set(groups) == {("cpu:1", "a/x"), ("cpu:1", "a/y"), ("cpu:2", "a/read"), ("cpu:1", "a/shared")}


def eager_tables() -> Tables:
    def op(number: int, kind: str, device: str, loc: int) -> Key:
        return Key(number, "op", {"op": kind, "device": device, "requested": "", "loc": loc}, 5)

    def hop(number: int, src: str, dst: str, **fields: Any) -> Key:
        return Key(number, "hop", hop_fields(src, dst, **fields), 5)

    keys = [
        op(1, "Mul", "cpu:1", 1),
        op(2, "Add", "cpu:0", 2),
        hop(3, "cpu:1", "cpu:0", producer_op="Mul", producer_loc=1, op="Add", loc=2),
        hop(4, "cpu:0", "cpu:1", kind="upload", producer_op="Python", op="Mul", loc=1),
        hop(5, "cpu:1", "cpu:0", kind="pull", producer_op="Mul", producer_loc=1, op="Python", loc=3),
        hop(6, "cpu:2", "cpu:0", producer_op="train_step", producer_loc=4, op="Add", loc=2),
    ]
    process = Process(
        0,
        1,
        "main",
        None,
        None,
        None,
        None,
        0,
        0,
        ["cpu:0", "cpu:1", "cpu:2", "cpu:3"],
        {"cpu:1": {"stand_in": True}},
        True,
        {},
    )
    return Tables([process], LOCATIONS, [], keys, [])


def test_eager_ops_are_a_graph_of_their_own() -> None:
    """GIVEN eager ops, an upload, a pull, and a call's result that is used THEN each hop has two ends."""
    tables = eager_tables()
    diagram = placement_diagram(tables, hop_table(tables))
    assert [choice.id for choice in diagram.graphs] == ["eager"]
    assert diagram.drawn == ("eager",)
    assert [(lane.device, lane.stand_in, lane.ops) for lane in diagram.lanes] == [
        ("cpu:1", True, 1),
        ("cpu:2", False, 0),
        ("cpu:0", False, 1),
    ]
    # Of what is named only by a transfer, or not at all, it is said that nothing ran there.
    assert diagram.idle == ("cpu:2", "cpu:3")
    ends = {crossing.hops: (crossing.src_group, crossing.dst_group) for crossing in diagram.crossings}
    line = "pkg/train.py/step/line"
    assert ends == {
        (0,): (f"eager|cpu:1|{line} 1/Mul", f"eager|cpu:0|{line} 2/Add"),
        (1,): ("eager|cpu:0|(inputs)", f"eager|cpu:1|{line} 1/Mul"),
        (2,): (f"eager|cpu:1|{line} 1/Mul", "eager|cpu:0|(outputs)"),
        (3,): (f"eager|cpu:2|{line} 4/train_step", f"eager|cpu:0|{line} 2/Add"),
    }
    labels = {group.id: (group.label, group.ops) for group in diagram.groups}
    assert labels["eager|cpu:0|(inputs)"] == ("Python data", 0)
    assert labels["eager|cpu:0|(outputs)"] == ("Python", 0)
    assert labels[f"eager|cpu:2|{line} 4/train_step"] == ("train_step", 0)


def test_the_graph_that_executed_most_comes_first() -> None:
    small = Graph(2, "train_step", "f2", 0, 0, "1 call inside is not placed apart", 90)
    drawn = layers(2, 2)
    drawn.keys.append(Key(99, "op", {"op": "Add", "device": "cpu:3", "loc": 1}, 3))
    tables = dataclasses.replace(
        drawn.tables,
        graphs=[drawn.graph, small],
        nodes_of=lambda graph: drawn.nodes[: 6 if graph == 1 else 1],
    )
    assert [(row.id, row.name, row.ops, row.calls) for row in graph_choices(tables)] == [
        ("2", "train_step (2)", 1, 90),
        ("1", "train_step", 6, 10),
        ("eager", "eager ops", 1, 3),
    ]
    both = placement_diagram(tables, hop_table(tables), ["1", "eager", "7"])
    assert both.drawn == ("1", "eager")
    assert {group.graph for group in both.groups} == {"1", "eager"}
    assert max(group.rank for group in both.groups if group.graph == "1") < min(
        group.rank for group in both.groups if group.graph == "eager"
    )


def test_what_a_fork_took_over_is_not_drawn_twice() -> None:
    """GIVEN a forked process with its parent's definitions, of which it ran one op THEN that alone is its."""
    base = 1 << 32
    fork = Process(1, 2, "f", None, None, None, None, 0, 0, [], {}, True, {"process": "fork"})
    drawn = layers(2, 2)
    ops = [
        Key(number, "op", {"op": op, "device": "cpu:0", "loc": 1}, count)
        for number, op, count in ((90, "Add", 5), (base + 90, "Add", 0), (base + 91, "Mul", 1))
    ]
    copied = dataclasses.replace(drawn.graph, id=base + 1, calls=0)
    tables = dataclasses.replace(
        drawn.tables, processes=[fork], graphs=[drawn.graph, copied], keys=[*drawn.keys, *ops]
    )
    assert [(row.id, row.ops) for row in graph_choices(tables)] == [("1", 6), ("eager", 2)]
    assert placement(tables) == [
        {"device": "cpu:0", "ops": 2},
        {"device": "cpu:1", "ops": 3},
        {"device": "cpu:2", "ops": 3},
    ]


def test_a_run_without_ops_has_an_empty_diagram() -> None:
    diagram = placement_diagram(Tables([], {}, [], [], []), [])
    assert (diagram.groups, diagram.crossings, diagram.lanes, diagram.drawn) == ((), (), (), ())


def test_longest_paths_go_through_cycles() -> None:
    edges = [(1, 2), (2, 3), (3, 2), (3, 4), (1, 4), (5, 5)]
    assert longest_paths([1, 2, 3, 4, 5], edges) == {1: 0, 2: 1, 3: 2, 4: 3, 5: 0}


def test_groups_that_depend_on_each_other_stand_in_the_order_of_their_middle_ops() -> None:
    """The backward pass comes after the forward one, though its constants come first."""
    ranks = group_ranks(
        {"backward": [1, 6, 7], "forward": [2, 3, 4], "update": [8]},
        {1: 0, 2: 1, 3: 2, 4: 3, 6: 5, 7: 6, 8: 7},
        [("backward", "forward"), ("forward", "backward"), ("backward", "update")],
    )
    assert ranks == {"forward": 0, "backward": 1, "update": 2}


def test_groups_of_a_moment_share_columns() -> None:
    groups = {f"g{n}": [n] for n in range(6)}
    moments = {n: 0 if n < 5 else 1 for n in range(6)}
    lanes = dict.fromkeys(groups, "x") | {"g4": "y"}
    assert sequence_ranks(groups, moments, lanes) == {"g0": 0, "g1": 0, "g2": 0, "g3": 0, "g4": 0, "g5": 1}


@pytest.mark.parametrize(("most", "depth"), [(100, 3), (20, 2), (1, 1)])
def test_the_deepest_cut_that_fits(most: int, depth: int) -> None:
    items = [Item(n, ("m", f"{chr(97 + n // 4)}", f"op{n * 3}"), "X", "cpu:1") for n in range(40)]
    assert choose_depth(items, most)[0] == depth


def test_a_cut_opens_down_to_the_op() -> None:
    cut = Cut(1, {}, [("m",), ("m", "a")])
    assert cut.group(("m", "a", "x")) == ("m", "a", "x")
    assert cut.group(("m", "b", "x")) == ("m", "b")
    assert cut.group(("n", "b", "x")) == ("n",)


def test_a_ring_is_drawn_from_neighbour_to_neighbour() -> None:
    drawn = Drawn(*((f"reduce_{n}", "CollectiveReduceV2", f"cpu:{n}") for n in (1, 2, 3)))
    drawn.keys = drawn.keys[:1]
    fields: dict[str, object] = {"op": "CollectiveReduceV2", "devices": ["cpu:1", "cpu:2", "cpu:3"]}
    fields["algorithm"] = "ring"
    fields |= {"payload_bytes": 300, "wire_bytes": 1200, "basis": "estimated", "graph": 1, "per_call": 1}
    drawn.keys.append(Key(2, "collective", fields, 10))
    diagram = drawn.diagram()
    assert [
        (one.src_device, one.dst_device, one.bytes_total, one.count, one.payload, one.cause, one.collective)
        for one in diagram.crossings
    ] == [
        (src, dst, 4000, 10, 300, "collective", "all-reduce · ring")
        for src, dst in (("cpu:1", "cpu:2"), ("cpu:2", "cpu:3"), ("cpu:3", "cpu:1"))
    ]
    assert all(one.hops == () and one.severity == "info" for one in diagram.crossings)
    matrix = device_matrix(hop_table(drawn.tables), collectives=collective_table(drawn.tables))
    assert [(cell.src, cell.dst, cell.bytes, cell.collectives[0].bytes) for cell in matrix.cells] == [
        ("cpu:1", "cpu:2", 0, 4000),
        ("cpu:2", "cpu:3", 0, 4000),
        ("cpu:3", "cpu:1", 0, 4000),
    ]


def test_a_reduction_whose_copies_are_hops_is_not_counted_twice() -> None:
    drawn = layers(2, 2)
    fields: dict[str, object] = {"op": "AllReduce", "devices": ["cpu:1", "cpu:2"]}
    fields["algorithm"] = "reduction-to-one-device"
    fields |= {"payload_bytes": 300, "wire_bytes": 600, "graph": 1}
    drawn.keys.append(Key(99, "collective", fields, 10))
    assert [one.cause for one in drawn.diagram().crossings] == ["explicit"]
    matrix = device_matrix(hop_table(drawn.tables), collectives=collective_table(drawn.tables))
    assert [(cell.bytes, cell.collectives) for cell in matrix.cells] == [(1000, ())]


def replicas(*devices: str, eager: int = 0, calls: int = 10, layers: int = 2) -> Tables:
    """One graph a device, all of one name, and some eager ops that ran ten times each."""
    graphs, nodes, keys = [], {}, []
    forward = [f"fc{layer}" for layer in range(1, layers + 1)]
    names = [*forward, *(f"{name}_backward" for name in reversed(forward))]
    for number, device in enumerate(devices, 1):
        graphs.append(Graph(number, "net", f"Executor {number}", 1, 0, None, calls))
        nodes[number] = [Node(number, n, name, "Op", "", device, 1, 0) for n, name in enumerate(names, 1)]
        keys.append(Key(number, "call", {"graph": number, "loc": 1}, calls))
    keys += [
        Key(100 + n, "op", {"op": f"op{n}", "device": "cpu:0", "loc": 1 + n % 8}, 10) for n in range(eager)
    ]
    edges = [Edge(1, n, 0, n + 1, 0, 4, "float32", "1") for n in range(1, len(names))]
    return Tables([], LOCATIONS, graphs, keys, [], {}, nodes.__getitem__, lambda graph: edges)


def test_replicas_are_drawn_together_above_one_another() -> None:
    diagram = placement_diagram(replicas("cpu:1", "cpu:2", "cpu:3"), [])
    assert diagram.drawn == ("1", "2", "3")
    ranks: dict[str, list[tuple[int, str]]] = {device: [] for device in ("cpu:1", "cpu:2", "cpu:3")}
    for group in diagram.groups:
        ranks[group.device].append((group.rank, group.label))
    alike = [(0, "fc1"), (1, "fc2"), (2, "\u2207fc2"), (3, "\u2207fc1")]
    assert ranks == {"cpu:1": alike, "cpu:2": alike, "cpu:3": alike}


def test_a_graph_that_was_made_again_on_the_same_device_is_not() -> None:
    assert placement_diagram(replicas("cpu:1", "cpu:1", "cpu:2"), []).drawn == ("1", "3")


def workers(*, calls: tuple[int, int] = (3, 3), eager: int = 0) -> Tables:
    """Two workers with a graph of one function each, who share a parameter server, and one that does nothing.

    The graphs have a backward pass; the eager ops ran ten times each.
    """
    graphs, nodes, keys = [], {}, []
    for number, worker in enumerate(("worker:0", "worker:1"), 1):
        graphs.append(Graph(number, "train_step", "f", 1, 0, None, calls[number - 1]))
        placed = (("read", "ps:0/cpu:0"), ("fc", f"{worker}/cpu:1"), ("sgd", "ps:0/cpu:0"))
        nodes[number] = [
            Node(number, n, name, "Op", "", device, 1, 2 if name == "sgd" else 0)
            for n, (name, device) in enumerate(placed, 1)
        ]
        keys.append(Key(number, "call", {"graph": number, "loc": 1}, calls[number - 1]))
    keys += [
        Key(100 + n, "op", {"op": f"op{n}", "device": "chief:0/cpu:0", "loc": 1 + n % 8}, 10)
        for n in range(eager)
    ]
    known = ["chief:0/cpu:0", "ps:0/cpu:0", *(f"worker:{n}/cpu:{m}" for n in range(3) for m in range(2))]
    process = Process(0, 1, "main", None, None, None, None, 0, 0, known, {}, True, {})
    edges = [Edge(1, n, 0, n + 1, 0, 4, "float32", "1") for n in (1, 2)]
    return Tables([process], LOCATIONS, graphs, keys, [], {}, nodes.__getitem__, lambda graph: edges)


def test_workers_that_share_a_server_are_drawn_above_one_another() -> None:
    """GIVEN two workers' graphs of one function THEN both are drawn, at the same places."""
    diagram = placement_diagram(workers(), [])
    assert diagram.drawn == ("1", "2")
    assert {(group.device, group.label, group.rank) for group in diagram.groups} == {
        ("ps:0/cpu:0", "read", 0),
        ("worker:0/cpu:1", "fc", 1),
        ("worker:1/cpu:1", "fc", 1),
        ("ps:0/cpu:0", "\u2207sgd", 2),
    }
    # An op that both share is one, and a device without any has no lane.
    lanes = [("worker:0/cpu:1", 1), ("worker:1/cpu:1", 1), ("ps:0/cpu:0", 2)]
    assert [(lane.device, lane.ops) for lane in diagram.lanes] == lanes
    assert diagram.idle == ("worker:2/cpu:1",)
    assert [choice.name for choice in diagram.graphs] == ["train_step · worker:0", "train_step · worker:1"]
    # Whichever has done more steps by now.
    busier = placement_diagram(workers(calls=(2, 4)), [])
    assert [choice.id for choice in busier.graphs] == ["2", "1"] and busier.drawn == ("1", "2")


def test_the_training_step_is_drawn_before_what_ran_more_ops() -> None:
    diagram = placement_diagram(workers(eager=97), [])
    assert diagram.graphs[0].id == "eager"
    assert diagram.drawn == ("1", "2")
    # What it would take to see the others stands at their devices' lanes, where these are no mere hosts.
    chosen = placement_diagram(workers(eager=97), [], ["eager"])
    assert [(lane.device, lane.ops, lane.elsewhere) for lane in chosen.lanes] == [
        ("worker:0/cpu:1", 0, True),
        ("worker:1/cpu:1", 0, True),
        ("chief:0/cpu:0", 97, False),
    ]


def test_what_executed_most_ops_is_drawn_together_while_it_can_be_read() -> None:
    def drawn(eager: int, calls: int) -> tuple[str, ...]:
        return placement_diagram(replicas("cpu:1", eager=eager, calls=calls), []).drawn

    assert drawn(eager=0, calls=10) == ("1",)
    # 40 of 100 executions are the graph's: both are needed for nine tenths.
    assert drawn(eager=6, calls=10) == ("eager", "1")
    assert drawn(eager=6, calls=1000) == ("1",)
    assert drawn(eager=100, calls=1) == ("eager",)
    # Too much for one drawing.
    assert drawn(eager=95, calls=200) == ("eager",)
    both = placement_diagram(replicas("cpu:1", eager=6), [])
    of_graph = [group.rank for group in both.groups if group.graph == "1"]
    assert min(of_graph) > max(group.rank for group in both.groups if group.graph == "eager")


def test_several_graphs_side_by_side_leave_room_for_names() -> None:
    """GIVEN a chain of many ops beside eager ones THEN its backward pass is one group, which opens."""
    run = replicas("cpu:1", "cpu:2", eager=12, calls=10, layers=6)
    diagram = placement_diagram(run, [])
    assert diagram.drawn == ("1", "2", "eager") and diagram.ranks <= MOST_COLUMNS
    labels = [group.label for group in diagram.groups if group.device == "cpu:2"]
    assert labels == ["fc1", "fc2", "fc3", "fc4", "fc5", "fc6", "backward"]
    opened = placement_diagram(run, [], expanded=["1|backward", "2|backward"])
    labels = [group.label for group in opened.groups if group.device == "cpu:2"]
    assert labels[-6:] == [f"\u2207fc{number}" for number in range(6, 0, -1)]


def test_an_exchange_at_a_line_has_ends_of_its_own() -> None:
    """GIVEN a transfer for something that is no op THEN no op of its line is said to take it."""
    op = Key(1, "op", {"op": "_zeros", "device": "cpu:0", "loc": 3}, 10)
    named = hop_fields("cpu:1", "cpu:0", op="kvstore push", producer_op="gradient", loc=3, producer_loc=3)
    nameless = hop_fields("cpu:1", "cpu:0", op="?", producer_op="?", loc=3, producer_loc=3)
    run = Tables([], LOCATIONS, [], [op, Key(2, "hop", named, 10), Key(3, "hop", nameless, 10)], [])
    crossings = placement_diagram(run, hop_table(run)).crossings
    ends = {tuple(end.rpartition("/")[2] for end in (one.src_group, one.dst_group)) for one in crossings}
    assert ends == {("gradient", "kvstore push"), ("?", "_zeros")}
