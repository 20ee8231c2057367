"""Ops whose names have no scopes get some from the parts that names share, and from their neighbours."""

from __future__ import annotations

from app.diagram.flat_names import flat_paths, is_flat
from probes.trace.rows import Edge, Node


def node(number: int, name: str, op: str, device: str = "cpu:1", forward_loc: int = 0) -> Node:
    return Node(1, number, name, op, "", device, 1, forward_loc)


def edge(src: int, dst: int) -> Edge:
    return Edge(1, src, 0, dst, 0, 4, "float32", "1")


def paths(nodes: list[Node], *edges: tuple[int, int]) -> dict[str, str]:
    found = flat_paths(nodes, [edge(*ends) for ends in edges])
    return {row.name: "/".join(found[row.node]) for row in nodes}


def test_names_with_scopes_are_not_flat() -> None:
    assert is_flat([node(1, "lstm0_t0_i2h", "FullyConnected")])
    assert not is_flat([node(1, "fc1", "FullyConnected"), node(2, "model/fc2", "FullyConnected")])


def test_parts_that_names_share_are_scopes() -> None:
    names = ["lstm0_t0_i2h", "lstm0_t0_h2h", "lstm0_t1_i2h", "lstm0_t1_h2h", "lstm1_t0_i2h", "lstm1_t0_h2h"]
    names += ["lstm0_begin_state_0", "lstm0_begin_state_1", "conv_1", "conv_2", "scores", "fc1_out"]
    assert paths([node(n, name, "Op") for n, name in enumerate(names, 1)]) == {
        "lstm0_t0_i2h": "lstm0/t0/i2h",
        "lstm0_t0_h2h": "lstm0/t0/h2h",
        "lstm0_t1_i2h": "lstm0/t1/i2h",
        "lstm0_t1_h2h": "lstm0/t1/h2h",
        "lstm1_t0_i2h": "lstm1/t0/i2h",
        "lstm1_t0_h2h": "lstm1/t0/h2h",
        # A number belongs to what it counts.
        "lstm0_begin_state_0": "lstm0/begin/state_0",
        "lstm0_begin_state_1": "lstm0/begin/state_1",
        "conv_1": "conv_1",
        "conv_2": "conv_2",
        # What no other name shares is no scope.
        "scores": "scores",
        "fc1_out": "fc1_out",
    }


def test_ops_that_the_framework_named_stand_where_their_neighbours_do() -> None:
    """GIVEN x -> _plus0 -> cell -> activation7 on one device and _mul1 behind it on another."""
    nodes = [
        node(1, "cell0_i2h", "FullyConnected"),
        node(2, "_plus0", "elemwise_add"),
        node(3, "cell0_slice", "SliceChannel"),
        node(4, "activation7", "Activation"),
        node(5, "_mul1", "elemwise_mul", "cpu:2"),
        node(6, "activation8", "Activation"),
    ]
    assert paths(nodes, (1, 2), (2, 3), (3, 4), (4, 5), (4, 6)) == {
        "cell0_i2h": "cell0/i2h",
        "_plus0": "cell0/elemwise_add",
        "cell0_slice": "cell0/slice",
        "activation7": "cell0/Activation",
        "_mul1": "_mul1",
        "activation8": "cell0/Activation_1",
    }


def test_the_backward_pass_has_a_scope_of_its_own() -> None:
    nodes = [
        node(1, "fc1", "FullyConnected"),
        node(2, "cell_a", "Op"),
        node(3, "cell_b", "Op"),
        node(4, "cell_b_backward", "_backward_Op"),
        node(5, "sum_grad (3)", "add_n"),
        node(6, "cell_a_backward", "_backward_Op"),
        node(7, "activation8_backward", "_backward_Activation"),
        node(8, "fc1_backward", "_backward_FullyConnected"),
        node(9, "elsewhere", "Op", forward_loc=3),
    ]
    assert paths(nodes, (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8)) == {
        "fc1": "fc1",
        "cell_a": "cell/a",
        "cell_b": "cell/b",
        "cell_b_backward": "backward/cell/b",
        "sum_grad (3)": "backward/cell/add_n",
        "cell_a_backward": "backward/cell/a",
        "activation8_backward": "backward/cell/Activation",
        "fc1_backward": "backward/fc1",
        "elsewhere": "backward/elsewhere",
    }


def test_a_loop_among_ops_ends() -> None:
    nodes = [node(1, "_plus0", "elemwise_add"), node(2, "_plus1", "elemwise_add")]
    assert paths(nodes, (1, 2), (2, 1)) == {"_plus0": "_plus0", "_plus1": "_plus1"}


def test_twenty_thousand_ops_take_no_time_to_speak_of() -> None:
    nodes = [node(n, f"layer{n // 100}_t{n // 10 % 10}_op{n % 10}", "Op") for n in range(1, 20_001)]
    found = flat_paths(nodes, [edge(n, n + 1) for n in range(1, 20_000)])
    assert len(found) == 20_000 and found[12_345] == ("layer123", "t4", "op5")
