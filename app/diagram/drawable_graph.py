"""What can be drawn as a placement diagram: a placed graph, or the eager ops of a run, in one form."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from app.diagram.flat_names import flat_paths, is_flat
from app.diagram.name_scopes import Item
from app.diagram.ranks import longest_paths
from app.facts.collectives import Joint, joint_collectives
from app.facts.placement import BOUNDARY
from app.facts.tables import Tables
from app.facts.transfers import wire
from app.facts.transfers.hops import Hop
from app.views.placement_data import EAGER, Member
from probes.trace.rows import Graph, Key, Node

_FEEDERS = frozenset({"Const", "ReadVariableOp"})


@dataclasses.dataclass(frozen=True)
class Transfer:
    """One hop key between ops of a drawable."""

    src: int
    dst: int
    """The first consumer; the others are in `also`."""
    also: tuple[int, ...]
    row: int
    """Row of the hop table."""
    count: int | None


@dataclasses.dataclass(frozen=True)
class Reduction:
    """One collective with its ops in a drawable, which need not be all: other processes have graphs too."""

    joint: Joint
    nodes: dict[str, list[int]]
    """Device -> its ops of the collective there."""
    site: str | None


@dataclasses.dataclass
class Drawable:
    """Ops with their paths and devices, what depends on what, and the transfers among them."""

    id: str
    name: str
    items: list[Item] = dataclasses.field(default_factory=list)
    members: dict[int, Member] = dataclasses.field(default_factory=dict)
    """Of the ops that count; inputs, outputs and Python itself have none."""
    inputs: dict[int, str] = dataclasses.field(default_factory=dict)
    """Nodes that are the call's arguments, or Python's data -> their device."""
    outputs: dict[int, str] = dataclasses.field(default_factory=dict)
    """Nodes that are the call's results, or Python taking a value -> their device."""
    edges: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    rank: dict[int, int] = dataclasses.field(default_factory=dict)
    transfers: list[Transfer] = dataclasses.field(default_factory=list)
    collectives: list[Reduction] = dataclasses.field(default_factory=list)
    """Those whose bytes no transfer stands for."""

    def feeders(self) -> dict[int, int]:
        """Constants and reads of variables that one op alone takes and no transfer starts at -> that op."""
        found = {item.id for item in self.items if item.op in _FEEDERS}
        found -= {transfer.src for transfer in self.transfers}
        taken: dict[int, set[int]] = {node: set() for node in found}
        for src, dst in self.edges:
            if src in taken:
                taken[src].add(dst)
        return {node: next(iter(fed)) for node, fed in taken.items() if len(fed) == 1 and not fed & found}


def of_graph(tables: Tables, graph: Graph, hops: Sequence[Hop]) -> Drawable:
    """A placed graph: its nodes, its edges, its hops."""
    drawable = Drawable(str(graph.id), graph.name)
    nodes, edges = tables.nodes_of(graph.id), tables.edges_of(graph.id)
    ops = [node for node in nodes if node.op not in BOUNDARY]
    paths = flat_paths(ops, edges) if is_flat(ops) else {node.node: _path(node.name) for node in ops}
    for node in nodes:
        if node.op in BOUNDARY:
            ends = drawable.inputs if node.op == "_Arg" else drawable.outputs
            ends[node.node] = node.assigned
        else:
            drawable.items.append(Item(node.node, paths[node.node], node.op, node.assigned))
            drawable.members[node.node] = _member(tables, node)
    drawable.edges = [(edge.src_node, edge.dst_node) for edge in edges]
    drawable.rank = longest_paths([node.node for node in nodes], drawable.edges)
    by_name = {node.name: node.node for node in nodes}
    keys = {key.id: key for key in tables.of_kind("hop")}
    for row, hop in enumerate(hops):
        for number in hop.keys:
            key = keys[number]
            if key.fields.get("graph") == graph.id:
                _graph_transfer(drawable, by_name, hop, row, key)
    drawable.collectives = _reductions(tables, drawable, graph.id)
    return drawable


def _site(drawable: Drawable, node: int) -> str | None:
    member = drawable.members.get(node)
    return member.site if member else None


def _reductions(tables: Tables, drawable: Drawable, graph: int) -> list[Reduction]:
    """The collectives of a graph (0: the eager ones) that move bytes beside the hops, where their ops are."""
    found = []
    for joint in joint_collectives(tables):
        here = [key for key in joint.keys if (key.fields.get("graph") or 0) == graph]
        if not here or joint.count == 0:
            continue
        fields = here[0].fields
        op = fields.get("op") or ""
        if not wire.beside_hops(op, fields.get("algorithm") or ""):
            continue
        items = [item for item in drawable.items if item.op in wire.kernels(op)]
        site = tables.site(fields.get("loc"))
        # Several collectives of a graph are told apart by their lines, where the ops have theirs.
        at_line = [item for item in items if _site(drawable, item.id) == site]
        nodes: dict[str, list[int]] = {}
        for item in at_line or items:
            if item.device in joint.devices:
                nodes.setdefault(item.device, []).append(item.id)
        if nodes and len(joint.devices) > 1:
            found.append(Reduction(joint, nodes, site))
    return found


def _path(name: str) -> tuple[str, ...]:
    return tuple(part for part in name.split("/") if part) or (name,)


def _member(tables: Tables, node: Node) -> Member:
    return Member(
        node.node,
        node.name,
        node.op,
        node.requested,
        node.assigned,
        tables.site(node.loc),
        tables.site(node.forward_loc),
    )


def _graph_transfer(drawable: Drawable, by_name: dict[str, int], hop: Hop, row: int, key: Key) -> None:
    src = by_name.get(hop.producer)
    if src is None:
        src = _stand_for(drawable.inputs, drawable, hop.src)
    found = [by_name[name] for name in hop.consumers if name in by_name]
    if not found:
        found = [_stand_for(drawable.outputs, drawable, hop.dst)]
    drawable.transfers.append(Transfer(src, found[0], tuple(found[1:]), row, key.count))


def _stand_for(ends: dict[int, str], drawable: Drawable, device: str) -> int:
    """A node for an end of a hop whose op is not among the nodes, one a device."""
    for node, where in ends.items():
        if where == device:
            return node
    node = min([0, *drawable.inputs, *drawable.outputs]) - 1
    ends[node] = device
    drawable.rank[node] = 0 if ends is drawable.inputs else max(drawable.rank.values(), default=0) + 1
    return node


def of_eager(tables: Tables, hops: Sequence[Hop]) -> Drawable:
    """The eager ops: a node an op key under file, function and line; ranks are by first appearance."""
    drawable = Drawable(EAGER, "eager ops")
    by_place: dict[tuple[str, int, str], int] = {}
    by_line: dict[tuple[int, str], int] = {}
    first_of_path: dict[tuple[str, ...], int] = {}
    for key in tables.eager_ops:
        op, device = key.fields.get("op") or "?", key.fields.get("device") or "?"
        loc = key.fields.get("loc") or 0
        _add_eager(tables, drawable, key.id, op, device, loc)
        drawable.members[key.id] = Member(
            key.id,
            op,
            op,
            key.fields.get("requested") or "",
            device,
            tables.site(loc),
            tables.site(key.fields.get("forward_loc")),
            key.fields.get("basis") or "measured",
        )
        by_place.setdefault((op, loc, device), key.id)
        by_line.setdefault((loc, device), key.id)
    keys = {key.id: key for key in tables.of_kind("hop")}
    for row, hop in enumerate(hops):
        for number in hop.keys:
            key = keys[number]
            if key.fields.get("graph"):
                continue
            src = _eager_end(tables, drawable, by_place, by_line, key, "producer")
            dst = _eager_end(tables, drawable, by_place, by_line, key, "consumer")
            drawable.transfers.append(Transfer(src, dst, (), row, key.count))
    for item in drawable.items:
        first_of_path.setdefault(item.path[:-1], len(first_of_path))
        drawable.rank[item.id] = first_of_path[item.path[:-1]]
    for node in drawable.outputs:
        drawable.rank[node] = len(first_of_path)
    drawable.collectives = _reductions(tables, drawable, 0)
    return drawable


def _add_eager(tables: Tables, drawable: Drawable, node: int, op: str, device: str, loc: int) -> None:
    location = tables.locations.get(loc)
    if location is None:
        path: tuple[str, ...] = ("unknown line", op)
    else:
        file = location.site.rpartition(":")[0] or location.site
        path = (
            *_path(file),
            location.function or "?",
            f"line {location.line}",
            op,
        )
    drawable.items.append(Item(node, path, op, device))


def _eager_end(
    tables: Tables,
    drawable: Drawable,
    by_place: dict[tuple[str, int, str], int],
    by_line: dict[tuple[int, str], int],
    key: Key,
    end: str,
) -> int:
    """The eager op at one end of a hop; Python's memory, or a call's result, where it was none."""
    fields = key.fields
    if end == "producer":
        op, loc = fields.get("producer_op") or "?", fields.get("producer_loc") or 0
        device, ends, python = fields.get("src") or "?", drawable.inputs, fields.get("kind") == "upload"
    else:
        op, loc = fields.get("op") or "?", fields.get("loc") or 0
        device, ends, python = fields.get("dst") or "?", drawable.outputs, fields.get("kind") == "pull"
    if python:
        return _stand_for(ends, drawable, device)
    found = by_place.get((op, loc, device))
    if found is None and op == "?":
        found = by_line.get((loc, device))
    if found is None:
        found = -1_000_000 - len(by_place)
        _add_eager(tables, drawable, found, op, device, loc)
        by_place[(op, loc, device)] = found
    return found
