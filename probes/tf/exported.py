"""Takes apart what the runtime exported of functions and ops that threads ran for the first time at once.

It collects the graphs of one context in one place: those before partitioning are merged there, node after
node (`GraphCollector` of the eager context), so that a function that four threads
make at a time comes as one graph with each node four times. The partitions stay apart. And whatever eager op
ends in another thread meanwhile takes what is there so far with it, as its own: then one function comes in
pieces, its graph before partitioning here, its partitions there. Eager ops have graphs too, and come in
pieces like these. So nothing is told by what came with what: only by the names of the ops.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Optional

from .placed_nodes import ARGUMENTS, RECVS, RESULTS, SENDS, internal, kernel_of, pair_of
from .uncut import uncut

_NO_SIGN = (*SENDS, *RECVS, *ARGUMENTS, *RESULTS, "NoOp")
"""Ops whose names say nothing of a function."""
_RECEIVED = re.compile(r"/_\d+$")
"""What partitioning puts behind the name of what was sent."""
_RESULT = re.compile(r"_[Rr]et[Vv]al(_\d+)?$")
"""What the runtime puts behind the name of an op's result."""
_ENOUGH = 0.5
"""The share of a graph's names that tells whose it is: optimization gives some ops names of its own."""


class Apart(NamedTuple):
    """The graphs of one function, as run metadata has them."""

    pre_optimization_graph: Any
    post_optimization_graph: Any
    partition_graphs: list[Any]


class Exported(NamedTuple):
    """One function's graphs."""

    graphs: Any
    apart: bool
    """They came in pieces, or in one with others."""
    owner: Optional[str] = None
    """The function that the names of their ops tell; None where they don't, or are yet to be asked."""


def exported(function_graphs: Sequence[Any], caller: str, notes: Mapping[str, Any]) -> Iterator[Exported]:
    """What was exported at a time, each function's graphs for themselves; `notes`: name -> FunctionNote."""
    pieces = []
    for graph in function_graphs:
        if _eager([graph.pre_optimization_graph, *graph.partition_graphs]):
            continue  # the op callback has seen them
        if _whole(graph):
            yield Exported(graph, False)
        else:
            pieces.append(graph)
    if not pieces:
        return
    library = type(pieces[0].post_optimization_graph.library)()
    for graph in pieces:
        library.MergeFrom(graph.post_optimization_graph.library)
    found: dict[tuple[str, bool], dict[str, tuple[int, Any]]] = {}
    for parts in _connected([part for graph in pieces for part in graph.partition_graphs if part.node]):
        if _eager(parts):
            continue
        names = _names(parts)
        owner = _owner(names, caller, notes)
        sure = _known(names, owner, notes) >= _ENOUGH * len(names)
        mine = found.setdefault((owner, sure), {})
        for part in parts:  # of several makings at a time of the same function one is enough
            device, knows = part.node[0].device, _known(_names([part]), owner, notes)
            if device not in mine or knows > mine[device][0]:
                mine[device] = knows, part
    for (owner, sure), by_device in found.items():
        cut = [part for _, part in by_device.values()]
        whole = uncut(cut, library)
        yield Exported(Apart(whole, whole, cut), True, owner if sure else None)


def _whole(function_graph: Any) -> bool:
    """Whether the graphs are all that there is of one function, and of nothing else."""
    before, placed = function_graph.pre_optimization_graph, [function_graph.post_optimization_graph]
    parts = [part for part in function_graph.partition_graphs if part.node]
    names = [node.name for node in placed[0].node]
    if not parts or not names or not before.node:
        return False
    if len({part.node[0].device for part in parts}) < len(parts) or len(set(names)) < len(names):
        return False
    cut, signed = _names(parts), _names(placed)
    if len(cut & signed) < _ENOUGH * max(len(cut), len(signed)) or _eager([before]) or _eager(parts):
        return False
    apart = _connected(parts)
    return len(apart) == 1 or not any(_ops(group) and _eager(group) for group in apart)


def _connected(parts: list[Any]) -> list[list[Any]]:
    """Partitions that send to each other together."""
    groups: list[tuple[list[Any], set[tuple[str, str, str]]]] = []
    for part in parts:
        pairs = {pair_of(node) for node in part.node if node.op in SENDS or node.op in RECVS}
        mine, apart = [part], []
        for group in groups:
            if pairs.isdisjoint(group[1]):
                apart.append(group)
            else:
                mine, pairs = group[0] + mine, pairs | group[1]
        groups = [*apart, (mine, pairs)]
    return [group for group, _ in groups]


def _eager(parts: Iterable[Any]) -> bool:
    """Whether partitions have no ops but single eager ones: named by their types, what they take and give
    as the op names it."""
    from tensorflow.python.framework import op_def_registry

    taken: set[str] = set()
    made: set[str] = set()
    for node in _ops(parts):
        known = op_def_registry.get(node.op)
        names = {argument.name for argument in known.input_arg} if known is not None else set()
        given = [_RECEIVED.sub("", text.partition(":")[0]) for text in node.input if text[:1] != "^"]
        if node.name not in (node.op, kernel_of(node.op)) or not all(_among(name, names) for name in given):
            return False
        taken |= names
        made |= {argument.name for argument in known.output_arg} if known is not None else set()
    edges = [node for part in parts for node in part.node] if made or taken else []
    return all(
        _among(node.name, taken) if node.op in ARGUMENTS else _among(_RESULT.sub("", node.name), made)
        for node in edges
        if node.op in (*ARGUMENTS, *RESULTS)
    )


def _among(name: str, arguments: set[str]) -> bool:
    """Whether it is one of an op's arguments, or of the tensors that one of them lists."""
    return name in arguments or name.rpartition("_")[0] in arguments


def _ops(graphs: Iterable[Any]) -> list[Any]:
    """Those whose names tell something."""
    return [node for graph in graphs for node in graph.node if node.op not in _NO_SIGN and not internal(node)]


def _names(graphs: Iterable[Any]) -> set[str]:
    return {node.name for node in _ops(graphs)}


def _known(names: set[str], owner: str, notes: Mapping[str, Any]) -> int:
    return len(names & notes[owner].ops.keys()) if owner in notes else 0


def _owner(names: set[str], caller: str, notes: Mapping[str, Any]) -> str:
    """The function that knows most of the ops; of equals the called one, then the newest."""
    known = [caller, *reversed([name for name in notes if name != caller])]
    return max(known, key=lambda name: _known(names, name, notes))
