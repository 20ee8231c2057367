"""Takes apart what the runtime exported of functions that several threads ran for the first time at once.

It collects the graphs of one context in one place: those before partitioning are merged there, node after
node (`GraphCollector` of the eager context), so that a function that four threads
make at a time comes as one graph with each node four times. The partitions stay apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


def exported(function_graph: Any, caller: str, notes: Mapping[str, Any]) -> Iterator[tuple[Any, bool]]:
    """Each function's graphs, and whether they came in one with others; `notes`: name -> FunctionNote."""
    if not _merged(function_graph):
        yield function_graph, False
        return
    found: dict[str, dict[str, Any]] = {}
    for part in function_graph.partition_graphs:
        if part.node:
            owner = _owner(part, caller, notes)
            found.setdefault(owner, {}).setdefault(part.node[0].device, part)
    for parts in found.values():
        whole = uncut(list(parts.values()), function_graph.post_optimization_graph.library)
        yield Apart(whole, whole, list(parts.values())), True


def _merged(function_graph: Any) -> bool:
    devices = [part.node[0].device for part in function_graph.partition_graphs if part.node]
    names = [node.name for node in function_graph.post_optimization_graph.node]
    return len(set(devices)) < len(devices) or len(set(names)) < len(names) or bool(devices and not names)


def _owner(part: Any, caller: str, notes: Mapping[str, Any]) -> str:
    """The function that knows most of a partition's ops; of equals the called one, then the newest."""
    names = {node.name for node in part.node if node.op not in _NO_SIGN}
    known = [caller, *reversed([name for name in notes if name != caller])]
    return max(known, key=lambda name: len(names & notes[name].ops.keys()) if name in notes else 0)
