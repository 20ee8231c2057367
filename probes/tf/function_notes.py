"""What is known of a traced function from tracing it, before it is placed."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

from ..trace.schema import CollectiveFields
from .definitions import made_at
from .op_notes import called_by, op_notes
from .origins import OpNote

_CONTROL_FLOW = {"While", "StatelessWhile", "If", "StatelessIf", "Case", "StatelessCase", "Switch", "Enter"}


class FunctionNote(NamedTuple):
    """One function, by what its graph and those that it calls hold."""

    label: str
    """For people: the Python function's name."""
    ops: dict[str, OpNote]
    steps: int
    compiled: bool
    """jit_compile=True: XLA takes it whole."""
    collectives: list[CollectiveFields]
    control_flow: bool
    """It, or a function that it calls, has a loop or a branch."""
    callees: set[str]
    """Runtime names of the functions that it calls, and that those call: bodies and branches too."""
    made: int = 0
    """Location of the line that made it a traced function."""
    captures: int = 0
    """How many of its last arguments are tensors of outside that it uses, which no caller gives."""
    graph: Optional[weakref.ref[Any]] = None
    """What was traced, while TensorFlow keeps it."""


def note_of(graph: Any, attrs: Any, known: Mapping[str, FunctionNote]) -> FunctionNote:
    """The note of a graph that becomes a function; `known` has those of the functions traced before."""
    ops = op_notes(graph)
    steps = getattr(graph, "_hopscope_steps", 0)
    collectives = list(getattr(graph, "_hopscope_collectives", ()))
    control_flow = False
    callees: set[str] = set()
    for op in graph.get_operations():
        if op.type in ("PartitionedCall", "StatefulPartitionedCall"):
            callee = known.get(op.get_attr("f").name)
            if callee is not None:
                steps += callee.steps
                collectives += callee.collectives
                control_flow = control_flow or callee.control_flow
        control_flow = control_flow or op.type in _CONTROL_FLOW
        for callee_name in called_by(op):
            callees.add(callee_name)
            if callee_name in known:
                callees |= known[callee_name].callees
    parts = label_of(graph), ops, steps, must_compile(attrs), collectives, control_flow, callees
    return FunctionNote(*parts, made_at(graph), captures_of(graph), weakref.ref(graph))


def captures_of(graph: Any) -> int:
    """How many of a graph's last inputs no caller gives: tensors, and what is asked for in each call."""
    return len(getattr(graph, "captures", ())) + len(getattr(graph, "deferred_external_captures", ()))


def label_of(graph: Any) -> str:
    """What people call a graph's function."""
    return graph.name.decode() if isinstance(graph.name, bytes) else str(graph.name)


def must_compile(attrs: Any) -> bool:
    """Whether a function of these attributes is taken whole by XLA: jit_compile=True."""
    value = attrs["_XlaMustCompile"] if attrs and "_XlaMustCompile" in attrs else False
    return bool(getattr(value, "b", value))
