"""What a collective of TensorFlow moves, and who takes part in it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from probes.tf.collective_kinds import BROADCAST, algorithm_of, kind_of, of_node, wire_bytes


@pytest.mark.parametrize(
    ("op", "members", "moved"),
    [
        ("CollectiveReduceV2", 4, 2 * 3 * 100),  # around the ring twice, a share of each tensor at a time
        ("CollectiveGatherV2", 4, 4 * 3 * 100),  # each one's part goes to each other
        ("CollectiveBcastSend", 4, 3 * 100),
        ("CollectiveBcastRecvV2", 4, 3 * 100),
        ("CollectiveReduceScatterV2", 4, 3 * 100),
        ("CollectiveReduceV2", 1, 0),
        ("CollectiveReduceV2", None, None),
    ],
)
def test_bytes_on_the_wire_follow_from_the_algorithm(op: str, members: int | None, moved: int | None) -> None:
    assert wire_bytes(op, 100, members) == moved
    assert wire_bytes(op, None, members) is None


def test_both_ends_of_a_broadcast_are_one_collective() -> None:
    assert kind_of("CollectiveBcastSend") == kind_of("CollectiveBcastRecvV2") == BROADCAST
    assert kind_of("CollectiveReduceV2") == "CollectiveReduceV2"


def test_the_hint_decides_only_where_it_names_somebody_else() -> None:
    # Strategies write the hint in capitals, ops in small letters.
    assert [algorithm_of("CollectiveReduceV2", hint) for hint in ("auto", "AUTO", "RING", "")] == ["ring"] * 4
    assert algorithm_of("CollectiveReduceV2", "NCCL") == "nccl"
    assert algorithm_of("CollectiveBcastSend", "auto") == "tree"


class Attributes(dict[str, Any]):
    """A node's attributes: `in` asks whether one is set."""


def node(op: str, inputs: list[str], **attributes: Any) -> Any:
    return SimpleNamespace(op=op, input=inputs, attr=Attributes(attributes))


def test_group_and_instance_come_from_inputs_or_attributes() -> None:
    numbers = {"size": 2, "key": 1, "instance": 100}
    hint = SimpleNamespace(s=b"RING")
    reduce = node("CollectiveReduceV2", ["x", "size", "key", "instance", "^y"], communication_hint=hint)
    assert of_node(reduce, numbers.get) == ("CollectiveReduceV2", 2, "1:100", "ring")
    received = node("CollectiveBcastRecvV2", ["size", "key", "instance", "shape"])
    assert of_node(received, numbers.get) == (BROADCAST, 2, "1:100", "tree")
    named = {
        name: SimpleNamespace(i=number)
        for name, number in zip(("group_size", "group_key", "instance_key"), (3, 7, 9), strict=True)
    }
    assert of_node(node("CollectiveReduce", ["x"], **named), numbers.get) == (
        "CollectiveReduce",
        3,
        "7:9",
        "ring",
    )
    # Its inputs are other things, and one whose keys are computed cannot be told apart.
    assert of_node(node("CollectiveReduceV3", ["x", "c", "g"]), numbers.get).group == ""
    assert of_node(node("CollectiveReduceV2", ["x", "size", "key", "?"]), numbers.get).group == ""
