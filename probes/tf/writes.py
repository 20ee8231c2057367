"""Which of its arguments a traced function writes to, at which lines, and whether as an update does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

_BY_VALUE = frozenset({"Sub", "SubV2"})
"""``w.assign(w - rate * gradient)`` is an update too, by the op that made the value."""
_PASSED_ON = frozenset({"Identity", "Reshape", "Cast", "EnsureShape"})
_UPDATES = ("ResourceApply", "ResourceSparseApply", "AssignSub", "AssignAdd", "ResourceScatterSub")
_OTHERS = ("AssignVariableOp", "ResourceScatter", "ResourceStridedSliceAssign")
_CALLS = {
    "PartitionedCall": (0, ("f",)),
    "StatefulPartitionedCall": (0, ("f",)),
    "While": (0, ("body",)),
    "StatelessWhile": (0, ("body",)),
    "If": (1, ("then_branch", "else_branch")),
    "StatelessIf": (1, ("then_branch", "else_branch")),
    "Case": (1, ("branches",)),
}
"""Op -> (inputs before those that it hands on, attributes that name what it calls)."""


class Write(NamedTuple):
    """One op that gives an argument's variable new values."""

    argument: int
    update: bool
    """In relation to the value that it had, as optimizers do; else any value may be assigned."""
    loc: int


def is_write(op_type: str) -> bool:
    """Whether an op gives a variable, its first input, new values."""
    return op_type.startswith(_UPDATES + _OTHERS)


def is_update(op_type: str, value_from: str) -> bool:
    """Whether such an op changes the value that was there; `value_from` made what it assigns."""
    return op_type.startswith(_UPDATES) or (op_type == "AssignVariableOp" and value_from in _BY_VALUE)


class Touched(NamedTuple):
    """What a traced function does with variables that are among its arguments, captured ones too."""

    writes: tuple[Write, ...] = ()
    differentiated: tuple[tuple[int, ...], ...] = ()
    """Arguments that gradients are asked for, by the calls that do."""


def touched(graph: Any, sources: Iterable[Iterable[Any]], known: Mapping[str, Touched]) -> Touched:
    """Of a function's graph and of those that it calls; `sources` are what it asks gradients for, by call."""
    arguments = {id(tensor): index for index, tensor in enumerate(graph.inputs)}
    places: Mapping[str, tuple[Any, ...]] = getattr(graph, "_hopscope_ops", {})
    writes: dict[Write, None] = {}
    wanted = {tuple(arguments[id(one)] for one in call if id(one) in arguments): None for call in sources}
    for op in graph.get_operations():
        if is_write(op.type):
            argument = arguments.get(id(op.inputs[0]))
            if argument is not None:
                value_from = _made_by(op.inputs[1]) if len(op.inputs) > 1 else ""
                loc = places.get(op.name, (0,))[0]
                writes[Write(argument, is_update(op.type, value_from), loc)] = None
        elif op.type in _CALLS:
            before, names = _CALLS[op.type]
            handed = [arguments.get(id(tensor)) for tensor in list(op.inputs)[before:]]
            for callee in (known[name] for name in _called(op, names) if name in known):
                for write in callee.writes:
                    argument = handed[write.argument]
                    if argument is not None:
                        writes[write._replace(argument=argument)] = None
                for call in callee.differentiated:
                    wanted[tuple(at for index in call if (at := handed[index]) is not None)] = None
    return Touched(tuple(writes), tuple(filter(None, wanted)))


def _called(op: Any, names: Iterable[str]) -> list[str]:
    values = [op.get_attr(name) for name in names]
    return [one.name for value in values for one in (value if isinstance(value, list) else [value])]


def _made_by(tensor: Any) -> str:
    op = tensor.op
    while op.type in _PASSED_ON and len(op.inputs):
        op = op.inputs[0].op
    return str(op.type)
