"""Where a graph puts gradients of several devices together on the host and applies that to variables there.

Nothing goes back to the devices then but the weights, which they read anew for the next step: the variables
live on the host, as in the towers of old. It is told by the way of the values: gradients of one shape, of
several devices, reach one op that makes one of them, and what it makes, or is made of that in the same shape,
changes a variable of the host. A norm of all gradients is of another shape, and passes none of those ops.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.analysis.devices import is_host
from app.analysis.tables import Tables
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
    tables: Tables, graph: int, arrived: Iterable[Key]
) -> list[tuple[list[Key], list[int]]]:
    """Of gradients that came to the host in a graph: those of several devices that are put together there
    and applied to one of the host's variables, with the locations of the ops that do that."""
    keys = list(arrived)
    if len({key.fields.get("src") for key in keys}) < 2:
        return []
    flow = _Flow(tables.nodes_of(graph), tables.edges_of(graph))
    sums: dict[tuple[int, object], list[Key]] = {}
    for key in keys:
        shape = key.fields.get("shape")
        for number in flow.put_together(key.fields.get("consumers") or ()):
            sums.setdefault((number, shape), []).append(key)
    found = []
    for (number, shape), of_one in sums.items():
        if len({key.fields.get("src") for key in of_one}) > 1 and (at := flow.updates(number, shape)):
            found.append((of_one, at))
    return found


def hands_on_gradient(tables: Tables, key: Key) -> bool:
    """Whether what a graph sends is a gradient that its maker, an Identity, only hands on."""
    graph, fields = key.fields.get("graph") or 0, key.fields
    if not graph or fields.get("producer_op") not in _PASSED_ON:
        return False
    return _Flow(tables.nodes_of(graph), tables.edges_of(graph)).of_backward(fields.get("producer"))


class _Flow:
    """The nodes of a graph and what goes between them."""

    def __init__(self, nodes: list[Node], edges: list[Edge]) -> None:
        self._nodes = {node.node: node for node in nodes}
        self._by_name = {node.name: node for node in nodes}
        self._from: dict[int, list[Edge]] = {}
        self._to: dict[int, list[Edge]] = {}
        for edge in edges:
            self._from.setdefault(edge.src_node, []).append(edge)
            self._to.setdefault(edge.dst_node, []).append(edge)

    def of_backward(self, name: object) -> bool:
        """Whether a node of this name, or what it only hands on, is of a backward pass."""
        node = self._by_name.get(str(name))
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
