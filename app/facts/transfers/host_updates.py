"""Where a graph puts gradients of several devices together on the host and applies that to variables there.

Nothing goes back to the devices then but the weights, which they read anew for the next step: the variables
live on the host, as in the towers of old. It is told by the way of the values: gradients of one shape, of
several devices, reach one op that makes one of them, and what it makes, or is made of that in the same shape,
changes a variable of the host. A norm of all gradients is of another shape, and passes none of those ops.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from app.facts.devices import is_host
from app.facts.groups import grouped
from app.facts.tables import Tables
from probes.tf.writes import is_write
from probes.trace.rows import Edge, Key, Node

TOGETHER = frozenset({"AddN", "Add", "AddV2", "Pack", "ConcatV2", "AccumulateNV2"})
"""TensorFlow's ops that put several tensors into one."""
BEFORE = frozenset({"ExpandDims", "Reshape", "Mul", "RealDiv"})
"""What may be done to each before."""
_PASSED_ON = frozenset({"Identity", "Cast"})
_OF_OLD = ("Apply", "SparseApply", "Assign", "Scatter")
"""Ops on variables that are no resources."""


def gradients_applied(
    tables: Tables, graph: int, arrived: Sequence[Key], known: Container[int]
) -> list[tuple[list[Key], list[int]]]:
    """Gradients of several devices that a graph puts together on the host and applies to a variable there.

    With the locations of the ops that apply them. `arrived` is what the code copies to the host in it,
    `known` are the ids of those that are gradients; one that an Identity hands on is one as well.
    """
    if len({key.fields.get("src") for key in arrived}) < 2:
        return []
    flow = _Flow(tables.nodes_of(graph), tables.edges_of(graph))
    keys = [key for key in arrived if key.id in known or flow.hands_on_gradient(key)]
    sums = grouped(
        ((number, key.fields.get("shape")), key)
        for key in keys
        for number in flow.put_together(key.fields.get("consumers") or ())
    )
    found = []
    for (number, shape), of_one in sums.items():
        if len({key.fields.get("src") for key in of_one}) > 1 and (at := flow.updates(number, shape)):
            found.append((of_one, at))
    return found


class _Flow:
    """The nodes of a graph and what goes between them."""

    def __init__(self, nodes: list[Node], edges: list[Edge]) -> None:
        self._nodes = {node.node: node for node in nodes}
        self._by_name = {node.name: node for node in nodes}
        self._from = grouped((edge.src_node, edge) for edge in edges)
        self._to = grouped((edge.dst_node, edge) for edge in edges)

    def hands_on_gradient(self, key: Key) -> bool:
        """Whether what is sent is a gradient that its maker only hands on, as TensorFlow 1 does."""
        node = self._by_name.get(str(key.fields.get("producer")))
        while node is not None and not node.forward_loc and node.op in _PASSED_ON:
            sources = self._to.get(node.node) or []
            node = self._nodes.get(sources[0].src_node) if sources else None
        return node is not None and bool(node.forward_loc)

    def put_together(self, consumers: Iterable[str]) -> set[int]:
        """The host's nodes that make one tensor of several and take this one, or what is little else."""
        waiting = [node for name in consumers if (node := self._by_name.get(name)) is not None]
        seen, found = {node.node for node in waiting}, set()
        while waiting:
            node = waiting.pop()
            if not is_host(node.assigned):
                continue
            if node.op in TOGETHER:
                found.add(node.node)
            elif node.op in BEFORE | _PASSED_ON:
                waiting += self._unseen(node.node, seen)
        return found

    def updates(self, start: int, shape: object) -> list[int]:
        """Locations of the host's ops that change a variable of this shape by what this node makes."""
        waiting, seen, found = [self._nodes[start]], {start}, []
        while waiting:
            node = waiting.pop()
            for edge in self._from.get(node.node, ()):
                after = self._nodes.get(edge.dst_node)
                if after is None or not is_host(after.assigned):
                    continue
                writes = is_write(after.op) or after.op.startswith(_OF_OLD)
                if writes and edge.dst_slot and edge.shape == shape:
                    found.append(after.loc)
            waiting += [one for one in self._unseen(node.node, seen) if is_host(one.assigned)]
        return list(dict.fromkeys(found))

    def _unseen(self, number: int, seen: set[int]) -> list[Node]:
        numbers = dict.fromkeys(edge.dst_node for edge in self._from.get(number, ()))
        found = [self._nodes[one] for one in numbers if one not in seen and one in self._nodes]
        seen.update(node.node for node in found)
        return found
