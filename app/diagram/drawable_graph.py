"""What can be drawn as a placement diagram: a placed graph, or the eager ops of a run, in one form."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from app.diagram.flat_names import flat_paths, is_flat
from app.diagram.name_scopes import Item
from app.diagram.ranks import longest_paths
from app.facts.collectives import Joint, joint_collectives
from app.facts.groups import grouped
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
        nodes = grouped((item.device, item.id) for item in at_line or items if item.device in joint.devices)
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
    ops: dict[tuple[str, int, str], int] = {}
    """(Type, line, device) -> the first op that is so; type '?' stands for any."""

    def add(node: int, op: str, loc: int, device: str) -> int:
        drawable.items.append(Item(node, (*_line_path(tables, loc), op), op, device))
        return ops.setdefault((op, loc, device), node)

    def end_of(key: Key, op: str, loc: str, device: str, ends: dict[int, str], python: str) -> int:
        """The eager op at one end of a hop; Python's memory, or a call's result, where it was none."""
        fields = key.fields
        place = fields.get(op) or "?", fields.get(loc) or 0, fields.get(device) or "?"
        if fields.get("kind") == python:
            return _stand_for(ends, drawable, place[2])
        return ops[place] if place in ops else add(-1_000_000 - len(drawable.items), *place)

    for key in tables.eager_ops:
        fields = key.fields
        op, device, loc = fields.get("op") or "?", fields.get("device") or "?", fields.get("loc") or 0
        add(key.id, op, loc, device)
        ops.setdefault(("?", loc, device), key.id)
        drawable.members[key.id] = Member(
            key.id,
            op,
            op,
            fields.get("requested") or "",
            device,
            tables.site(loc),
            tables.site(fields.get("forward_loc")),
            fields.get("basis") or "measured",
        )
    keys = {key.id: key for key in tables.of_kind("hop")}
    for row, hop in enumerate(hops):
        for key in (keys[number] for number in hop.keys):
            if not key.fields.get("graph"):
                src = end_of(key, "producer_op", "producer_loc", "src", drawable.inputs, "upload")
                dst = end_of(key, "op", "loc", "dst", drawable.outputs, "pull")
                drawable.transfers.append(Transfer(src, dst, (), row, key.count))
    first_of_path: dict[tuple[str, ...], int] = {}
    for item in drawable.items:
        drawable.rank[item.id] = first_of_path.setdefault(item.path[:-1], len(first_of_path))
    drawable.rank |= dict.fromkeys(drawable.outputs, len(first_of_path))
    drawable.collectives = _reductions(tables, drawable, 0)
    return drawable


def _line_path(tables: Tables, loc: int) -> tuple[str, ...]:
    """File, function and line as scopes."""
    location = tables.locations.get(loc)
    if location is None:
        return ("unknown line",)
    file = location.site.rpartition(":")[0] or location.site
    return (*_path(file), location.function or "?", f"line {location.line}")
