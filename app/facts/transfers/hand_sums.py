"""Lines at which the code itself adds up several devices' gradients on the host, and hands the sum back.

What an expert would look for: gradients of two devices or more are copied to the host at one line, are put
together there, and one result of a gradient's shape goes to several of those devices, or into a variable
of the host. A gradient that is looked at, or clipped for its own device, is none of it.

Where a graph applies them to variables of the host nothing goes back but the weights, which the devices
read anew for the next step, as in the towers of old. It is told by the way of the values: gradients of one
shape, of several devices, reach one op that makes one of them, and what it makes, or is made of that in the
same shape, changes a variable of the host. A norm of all gradients has another shape and passes no such op.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from app.facts.devices import is_host
from app.facts.groups import grouped
from app.facts.tables import Tables
from app.facts.transfers.transfer import NO_SUM, READS, HandSum, Made, Place
from probes.tf.writes import is_write
from probes.trace.rows import Edge, Key, Node

TOGETHER = frozenset({"AddN", "Add", "AddV2", "Pack", "ConcatV2", "AccumulateNV2"})
"""TensorFlow's ops that put several tensors into one."""
BEFORE = frozenset({"ExpandDims", "Reshape", "Mul", "RealDiv"})
"""What may be done to each before."""
_PASSED_ON = frozenset({"Identity", "Cast"})
_OF_OLD = ("Apply", "SparseApply", "Assign", "Scatter")
"""Ops on variables that are no resources."""


def _gradients_applied(
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


_NO_RESULTS = READS | {"Python", "Const", "?", "gradient", ""}


def hand_sums(tables: Tables) -> dict[Place, HandSum]:
    """By the place to which the gradients are copied."""
    hops = tables.of_kind("hop")
    backward = {_op(key) for key in tables.of_kind("op") if key.fields.get("forward_loc")}
    backward |= {_op(key) for key in tables.of_kind("returned")}
    arrived = [key for key in hops if _is_gradient_to_host(key.fields, backward)]
    found: dict[Place, HandSum] = {}
    for keys in _gathered(tables, arrived):
        gradients = frozenset(map(_made, keys))
        back = _handed_back(hops, keys, HandSum(gradients, ()).devices)
        sites = dict.fromkeys(tables.site(key.fields.get("loc")) for key in back)
        for place in map(_place, keys) if back else ():
            found[place] = found.get(place, NO_SUM).and_(gradients, back_at=filter(None, sites))
    return found | _applied(tables, hops, backward, found)


def _applied(
    tables: Tables, hops: Iterable[Key], backward: Container[Made], known: Container[Place]
) -> dict[Place, HandSum]:
    """By the place to which a graph's gradients are copied that are applied on the host."""
    graphs = grouped(
        (graph, key)
        for key in hops
        if (graph := key.fields.get("graph"))
        if key.fields.get("op") in TOGETHER | BEFORE and _is_asked_to_host(key.fields)
    )
    found: dict[Place, HandSum] = {}
    for graph, arrived in graphs.items():
        gradients = {key.id for key in arrived if _is_gradient_to_host(key.fields, backward)}
        for keys, updates in _gradients_applied(tables, graph, arrived, gradients):
            sites = [site for loc in updates if (site := tables.site(loc))]
            for place in (place for place in map(_place, keys) if place not in known):
                one = found.get(place, NO_SUM)
                found[place] = one.and_(frozenset(map(_made, keys)), applied_at=sites)
    return found


def _gathered(tables: Tables, arrived: Iterable[Key]) -> list[list[Key]]:
    keys = list(arrived)
    by_place = grouped((_place(key), key) for key in keys)
    put = [key.fields for key in tables.of_kind("together")]
    sums = grouped(((fields.get("loc"), fields.get("device")), fields.get("made_loc")) for fields in put)
    by_sum = grouped(
        (made, key) for key in keys for made in sums.get((key.fields.get("loc"), key.fields.get("src")), ())
    )
    groups = [keys for place, keys in by_place.items() if place[0] or _put_together(tables, keys)]
    return [keys for keys in (*groups, *by_sum.values()) if len({key.fields.get("src") for key in keys}) > 1]


def _is_gradient_to_host(fields: Mapping[str, Any], backward: Container[Made]) -> bool:
    """Whether the code copies a gradient to the host; `backward` is what made gradients eagerly."""
    if not _is_asked_to_host(fields):
        return False
    src = fields.get("src")
    facts = fields.get("facts") or {}
    if facts.get("gradient") or facts.get("producer_forward_requested"):
        return True
    return (
        not fields.get("graph") and (fields.get("producer_op"), fields.get("producer_loc"), src) in backward
    )


def _is_asked_to_host(fields: Mapping[str, Any]) -> bool:
    src, dst = str(fields.get("src") or ""), str(fields.get("dst") or "")
    asked = is_host(dst) and not is_host(src) and fields.get("requested") == dst
    return asked and fields.get("kind") == "copy"


def _op(key: Key) -> Made:
    return key.fields.get("op"), key.fields.get("loc"), key.fields.get("device")


def _made(key: Key) -> Made:
    return key.fields.get("producer_op"), key.fields.get("producer_loc"), key.fields.get("src")


def _place(key: Key) -> Place:
    return key.fields.get("graph") or 0, key.fields.get("loc") or 0


def _handed_back(hops: Iterable[Key], arrived: list[Key], devices: frozenset[str]) -> list[Key]:
    """The transfers that bring one result of the host's, of a gradient's shape, to several of the devices."""
    shapes = {key.fields.get("shape") for key in arrived}
    back = (
        key
        for key in hops
        if is_host(str(key.fields.get("src") or "")) and key.fields.get("dst") in devices
        if key.fields.get("shape") in shapes and _is_result(key, arrived)
    )
    ways = grouped((_result(key.fields), key) for key in back)
    several = [keys for keys in ways.values() if len({key.fields.get("dst") for key in keys}) > 1]
    return [key for keys in several for key in keys]


def _result(fields: Mapping[str, Any]) -> tuple[object, ...]:
    made = fields.get("tensor") if fields.get("graph") else fields.get("producer_op")
    return made, fields.get("producer_loc"), fields.get("shape")


def _is_result(key: Key, arrived: list[Key]) -> bool:
    """Whether what goes from the host may be made of what came there."""
    fields, first = key.fields, arrived[0]
    if key.id >> 32 != first.id >> 32 or (fields.get("graph") or 0) != (first.fields.get("graph") or 0):
        return False
    if any((one.fields.get("facts") or {}).get("gradient") for one in arrived):
        return fields.get("origin_loc") in {one.fields.get("loc") for one in arrived}
    if fields.get("producer_op") in _NO_RESULTS or fields.get("producer_requested") != fields.get("src"):
        return False
    # Initial values go to all devices as well, but once.
    return bool(fields.get("graph")) or 2 * (key.count or 0) > max(one.count or 0 for one in arrived)


def _put_together(tables: Tables, arrived: list[Key]) -> bool:
    """Whether an eager op of TensorFlow makes one of what came; in a graph the one result tells."""
    if any(key.fields.get("op") in TOGETHER for key in arrived):
        return True
    before = (key.fields.get("scope_loc") for key in arrived if key.fields.get("op") in BEFORE)
    scopes = {scope for scope in before if scope}
    return any(
        key.fields.get("op") in TOGETHER
        and is_host(str(key.fields.get("device") or ""))
        and key.fields.get("scope_loc") in scopes
        for key in tables.of_kind("op")
    )
