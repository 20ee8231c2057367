"""Scopes for ops whose names have none: from the parts that names share, and from an op's neighbours.

A framework without name scopes still has names like ``lstm1_t3_i2h``, beside ops that it named by itself
(``_mul17``, ``activation8``). The former tell their scopes, the latter stand in that of what they feed, or
are fed by, on their device. Ops of the backward pass have a scope of their own, as a gradient tape gives
them one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from app.diagram.name_scopes import Path
from app.facts.groups import grouped
from probes.trace.rows import Edge, Node

BACKWARD = "backward"
_REPEATED = re.compile(r" \(\d+\)$")
_PARTS = re.compile(r"_(?!\d+(?:_|$))")
"""Between the parts of a name; a number belongs to the part before it."""
_NUMBER = re.compile(r"_?\d+$")
_OF_ITSELF = ("_", "sum_grad")
"""How names begin that a framework gives: to an operator's op, and to sums of gradients."""


def is_flat(nodes: Iterable[Node]) -> bool:
    """Whether no name has a scope."""
    return not any("/" in node.name for node in nodes)


def flat_paths(nodes: Sequence[Node], edges: Sequence[Edge]) -> dict[int, Path]:
    """Scopes and own name of each op of a graph with flat names, by its number.

    `nodes` stand in an order in which producers come before their consumers, where there is such a one.
    """
    takers = grouped((edge.src_node, edge.dst_node) for edge in edges)
    givers = grouped((edge.dst_node, edge.src_node) for edge in edges)
    backward = _backward(nodes, givers)
    parts = {node.node: _parts(node.name) for node in nodes if not _named_by_itself(node)}
    shared = Counter(name[:depth] for name in parts.values() for depth in range(1, len(name)))
    scopes = {number: _scope(name, shared) for number, name in parts.items()}
    known = {number: scope for number, scope in scopes.items() if scope}
    alike = {node.node: (node.assigned, node.node in backward) for node in nodes}
    for order, neighbours in ((reversed(nodes), takers), (nodes, givers)):
        for node in order:
            if node.node not in parts and node.node not in known:
                near = (other for other in neighbours.get(node.node, ()) if other in known)
                found = next((other for other in near if alike[other] == alike[node.node]), None)
                if found is not None:
                    known[node.node] = known[found]
    used: Counter[Path] = Counter()
    paths: dict[int, Path] = {}
    for node in nodes:
        scope = known.get(node.node, ())
        head = (BACKWARD, *scope) if node.node in backward else scope
        if node.node in parts:
            paths[node.node] = (*head, "_".join(parts[node.node][len(scope) :]))
        elif scope:
            # Equal blocks have equal names: the op's type, and which of its kind it is.
            own = (*head, node.op.removeprefix("_backward_"))
            again = used[own]
            used[own] += 1
            paths[node.node] = (*head, f"{own[-1]}_{again}") if again else own
        else:
            paths[node.node] = (*head, node.name)
    return paths


def _backward(nodes: Iterable[Node], givers: Mapping[int, Sequence[int]]) -> set[int]:
    """The ops that gradients are computed by, and what takes from them."""
    found: set[int] = set()
    for node in nodes:
        own = node.forward_loc or node.name.endswith("_backward")
        if own or any(giver in found for giver in givers.get(node.node, ())):
            found.add(node.node)
    return found


def _named_by_itself(node: Node) -> bool:
    """Whether the framework made the name: from the op's type and a number, or of its own."""
    name = _REPEATED.sub("", node.name).removesuffix("_backward")
    kind = node.op.removeprefix("_backward_").lstrip("_").lower()
    return name.startswith(_OF_ITSELF) or _NUMBER.sub("", name).lower() == kind


def _parts(name: str) -> tuple[str, ...]:
    return tuple(_PARTS.split(_REPEATED.sub("", name).removesuffix("_backward")))


def _scope(parts: tuple[str, ...], shared: Mapping[tuple[str, ...], int]) -> Path:
    """As many of the leading parts as another op has, too."""
    depth = 0
    while depth < len(parts) - 1 and shared[parts[: depth + 1]] > 1:
        depth += 1
    return parts[:depth]
