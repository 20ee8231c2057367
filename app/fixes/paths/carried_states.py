"""A state that goes from step to step through Python, as of truncated backpropagation: it stays a tensor."""

from __future__ import annotations

import ast

from app.facts.transfers.transfer import READS
from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import tensorflow
from app.fixes.code.names import bindings, called, dotted
from app.fixes.code.parsed_source import Function, Source
from app.fixes.flow.accumulators import first_values
from app.fixes.flow.source_tensors import maybe_taped
from app.fixes.situation import Draft, Situation

_CONVERTS = frozenset({"constant", "convert_to_tensor"})
_TAKES_TENSORS = frozenset({"reshape", "cast", "identity", "stop_gradient", "matmul"})


def stays_tensor(situation: Situation) -> Draft | None:
    """``state = h.numpy()`` and ``tf.constant(state)`` in the next round: ``state = h``.

    Only where nothing but TensorFlow reads the name: it makes no other tensor of one.
    """
    source = situation.source
    for stmt in situation.statements:
        taken = _taken(stmt)
        tf = tensorflow(source, stmt)
        if taken is None or tf is None or source.loop_of(stmt) is None or not isinstance(stmt, ast.Assign):
            continue
        target, tensor = stmt.targets[0], source.code(taken)
        if not isinstance(target, ast.Name) or not _read_by_tensorflow(source, target, stmt, tf):
            return None
        values = [one for one in first_values(source, tensor, stmt) if one is not stmt.value]
        if any(hop.producer_op in READS for hop in situation.hops) or any(
            called(part) == "Variable" for one in values if one is not None for part in ast.walk(one)
        ):
            return None  # a variable's own tensor were its later value
        new = f"{tf}.stop_gradient({tensor})" if maybe_taped(source, stmt) else tensor
        change = Change(source)
        if new != target.id:
            change.replace(stmt.value, new)
        elif unfolded(source, stmt)[0] is source:
            change.drop(stmt)
        else:
            return None
        words = (
            f"Hands {target.id} on as the tensor that it is, without a way through Python"
            f"{', and without its gradient as before' if new != tensor else ''}."
        )
        return situation.draft(words, change.text())
    return None


def _taken(stmt: ast.stmt) -> ast.expr | None:
    """The tensor of ``state = h.numpy()``."""
    call = stmt.value if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 else None
    plain = isinstance(call, ast.Call) and called(call) == "numpy" and not call.args and not call.keywords
    if not plain or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    return call.func.value if isinstance(call.func.value, ast.Name) else None


def _read_by_tensorflow(source: Source, target: ast.Name, stmt: ast.stmt, tf: str) -> bool:
    """Whether all that reads the name makes a tensor of it first."""
    made = bindings(source, target.id, stmt)
    if any(isinstance(one, ast.arg) for one in made) or any(
        isinstance(source.parents[one], ast.AugAssign | ast.For) for one in made
    ):
        return False
    inside = set(ast.walk(stmt))
    reads = [
        node
        for node in ast.walk(source.tree)
        if node not in inside
        and isinstance(node, ast.Name)
        and node.id == target.id
        and isinstance(node.ctx, ast.Load)
        and bindings(source, target.id, node) == made
    ]
    return bool(reads) and all(_converted(source, node, tf) for node in reads)


def _converted(source: Source, node: ast.Name, tf: str) -> bool:
    call = source.parents[node]
    if not isinstance(call, ast.Call) or node not in call.args:
        return False
    name, whole = called(call), dotted(call.func)
    if whole == f"{tf}.{name}" and name in _CONVERTS:
        return len(call.args) == 1 and not call.keywords
    if whole == f"{tf}.{name}" and name in _TAKES_TENSORS:
        return call.args[0] is node
    made = [one for one in ast.walk(source.tree) if isinstance(one, Function) and one.name == whole]
    # A traced function makes a tensor of each array that it is handed.
    return len(made) == 1 and any(
        dotted(one.func if isinstance(one, ast.Call) else one) == f"{tf}.function"
        for one in made[0].decorator_list
    )
