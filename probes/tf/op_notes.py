"""What is known of the ops of a graph that was built here: lines, what they asked for, whom they call."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Optional

from .names import short_device
from .origins import OpNote
from .scopes import NO_SCOPE

Made = tuple[int, int, str, Any, str]
"""Of an op when it was made: location, that of its forward op, what that asked for, scope, forward op."""
NOWHERE: Made = (0, 0, "", NO_SCOPE, "")
FUNCTION_ATTRIBUTES = {
    "PartitionedCall": ("f",),
    "StatefulPartitionedCall": ("f",),
    "While": ("body", "cond"),
    "StatelessWhile": ("body", "cond"),
    "If": ("then_branch", "else_branch"),
    "StatelessIf": ("then_branch", "else_branch"),
    "Case": ("branches",),
    "StatelessCase": ("branches",),
}


def op_notes(graph: Any, names: Optional[Collection[str]] = None) -> dict[str, OpNote]:
    """A note of each op of a graph by its name; `names`: only of these."""
    places: Mapping[str, Made] = getattr(graph, "_hopscope_ops", {})
    results = {tensor.op.name for tensor in getattr(graph, "outputs", ()) if tensor.op.type == "Identity"}
    notes = {}
    for op in graph.get_operations():
        if names is not None and op.name not in names:
            continue
        loc, forward, forward_requested, scope, forward_op = places.get(op.name, NOWHERE)
        requested, wanted = short_device(op.device), short_device(forward_requested)
        result = op.name in results
        notes[op.name] = OpNote(op.type, requested, loc, forward, wanted, scope, result, forward_op)
    return notes


def called_by(op: Any) -> list[str]:
    """Runtime names of the functions that an op calls: bodies and branches too."""
    names = []
    for attribute in FUNCTION_ATTRIBUTES.get(op.type, ()):
        value = op.get_attr(attribute)
        names += [function.name for function in (value if isinstance(value, list) else [value])]
    return names
