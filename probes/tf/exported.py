"""Takes apart what the runtime exported of functions that several threads ran for the first time at once.

It collects the graphs of one context in one place: those before partitioning are merged there, node after
node (`GraphCollector` of the eager context), so that a function that four threads
make at a time comes as one graph with each node four times. The partitions stay apart. And whatever eager op
ends in another thread meanwhile takes what is there so far with it, as its own: then one function comes in
pieces, its graph before partitioning here, its partitions there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .placed_nodes import ARGUMENTS, RECVS, RESULTS, SENDS
from .uncut import uncut

_NO_SIGN = (*SENDS, *RECVS, *ARGUMENTS, *RESULTS, "NoOp")
"""Ops whose names say nothing of a function."""


class Apart(NamedTuple):
    """The graphs of one function, as run metadata has them."""

    pre_optimization_graph: Any
    post_optimization_graph: Any
    partition_graphs: list[Any]


def joined(function_graphs: Sequence[Any], notes: Mapping[str, Any]) -> list[Any]:
    """What was exported at a time: where functions came in pieces, all that there is of them as one."""
    graphs = list(function_graphs)
    if threading.active_count() < 2 or not any(map(_piece, graphs)):
        return graphs
    names = {name for note in notes.values() for name in note.ops}
    whole = type(graphs[0])()
    for graph in graphs:
        whole.post_optimization_graph.library.MergeFrom(graph.post_optimization_graph.library)
        whole.partition_graphs.extend(
            part
            for part in graph.partition_graphs
            if not _eager(part) and any(node.name in names for node in part.node)
        )
    return [whole]  # without a graph of its own, which counts as merged


def _piece(graph: Any) -> bool:
    parts = any(part.node for part in graph.partition_graphs)
    return parts != bool(graph.pre_optimization_graph.node)


def _eager(part: Any) -> bool:
    """Whether a partition is of a single eager op: named by its type, its arguments as the op names them."""
    from tensorflow.python.framework import op_def_registry

    ops = [node for node in part.node if node.op not in _NO_SIGN]
    if len(ops) != 1 or ops[0].name != ops[0].op:
        return False
    known = op_def_registry.get(ops[0].op)
    names = {argument.name for argument in known.input_arg} if known is not None else set()
    arguments = [node.name for node in part.node if node.op in ARGUMENTS]
    return all(name in names or name.rpartition("_")[0] in names for name in arguments)


def exported(function_graph: Any, caller: str, notes: Mapping[str, Any]) -> Iterator[tuple[Any, bool]]:
    """Each function's graphs, and whether they came in one with others; `notes`: name -> FunctionNote."""
    if not _merged(function_graph):
        yield function_graph, False
        return
    found: dict[str, dict[str, Any]] = {}
    for part in function_graph.partition_graphs:
        if part.node and not _eager(part):
            owner = _owner(part, caller, notes)
            parts, device = found.setdefault(owner, {}), part.node[0].device
            if device not in parts or _known(part, owner, notes) > _known(parts[device], owner, notes):
                parts[device] = part
    for parts in found.values():
        whole = uncut(list(parts.values()), function_graph.post_optimization_graph.library)
        yield Apart(whole, whole, list(parts.values())), True


def _merged(function_graph: Any) -> bool:
    devices = [part.node[0].device for part in function_graph.partition_graphs if part.node]
    names = [node.name for node in function_graph.post_optimization_graph.node]
    return len(set(devices)) < len(devices) or len(set(names)) < len(names) or bool(devices and not names)


def _known(part: Any, owner: str, notes: Mapping[str, Any]) -> int:
    ops = notes[owner].ops if owner in notes else ()
    return sum(node.name in ops for node in part.node)


def _owner(part: Any, caller: str, notes: Mapping[str, Any]) -> str:
    """The function that knows most of a partition's ops; of equals the called one, then the newest."""
    names = {node.name for node in part.node if node.op not in _NO_SIGN}
    known = [caller, *reversed([name for name in notes if name != caller])]
    return max(known, key=lambda name: len(names & notes[name].ops.keys()) if name in notes else 0)
