"""A variable that lives elsewhere than it is read: it is created where it is read."""

from __future__ import annotations

import ast

from app.analysis.repairs.change import Change, unfolded
from app.analysis.repairs.names import assignment_of, called, keyword
from app.analysis.repairs.notation import alone, device_named, tensorflow, tf_device
from app.analysis.repairs.situation import Draft, Situation
from app.analysis.repairs.source import Function, Source, own_nodes

_CREATES = frozenset({"Variable", "get_variable"})


def variable_home(situation: Situation) -> Draft | None:
    """The creation goes into the reader's device scope; None under a strategy, which decides by itself."""
    device = alone([hop.dst for hop in situation.hops])
    if situation.framework != "tensorflow" or device is None:
        return None
    creation = _creation(situation)
    if creation is None:
        return None
    source, now = unfolded(situation.source, creation)
    stmt: ast.stmt = now(creation)
    tf, argument = tensorflow(source, stmt), tf_device(source, stmt, device)
    if tf is None or argument is None or _kept_by_others(source, stmt):
        return None
    change = Change(source)
    parent = source.parents[stmt]
    scope = _only_scope(parent) if isinstance(parent, ast.With) and len(parent.body) == 1 else None
    if scope is not None and isinstance(scope, ast.Constant):
        change.replace(scope, argument)
    else:
        change.wrap(stmt, f"with {tf}.device({argument}):")
    words = (
        f"Creates the variable on {device}, where it is read; check that it fits into its memory, and"
        " what else uses it."
    )
    return situation.draft(words, change.text())


def _creation(situation: Situation) -> ast.Assign | ast.AnnAssign | None:
    """The one statement that creates the variable that the line reads; None where that is not certain."""
    source, found = situation.source, set()
    told = {str(name).rpartition("/")[2].partition(":")[0] for name in situation.evidence("variable")}
    for stmt in situation.statements:
        for node in own_nodes(stmt):
            if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
                continue
            made = assignment_of(source, node.id, node)
            if made is not None and _creates(made) and _may_live_on(source, made, situation):
                found.add(made)
    named = {made for made in found if _name(made) in told}
    chosen = named or found
    return chosen.pop() if len(chosen) == 1 else None


def _creates(stmt: ast.Assign | ast.AnnAssign) -> bool:
    return isinstance(stmt.value, ast.Call) and called(stmt.value) in _CREATES


def _name(stmt: ast.Assign | ast.AnnAssign) -> str:
    named = keyword(stmt.value, "name") if isinstance(stmt.value, ast.Call) else None
    return str(named.value.value) if named and isinstance(named.value, ast.Constant) else ""


def _may_live_on(source: Source, stmt: ast.stmt, situation: Situation) -> bool:
    """Whether nothing says that the variable is elsewhere than the one that was read."""
    for parent in source.ancestors(stmt):
        scope = _only_scope(parent) if isinstance(parent, ast.With) else None
        if isinstance(scope, ast.Constant):
            return device_named(str(scope.value)) in situation.evidence("lives_on")
    return True


def _only_scope(block: ast.With) -> ast.expr | None:
    """What a ``with tf.device(..):`` that does nothing else names."""
    call = block.items[0].context_expr
    plain = (
        len(block.items) == 1
        and isinstance(call, ast.Call)
        and called(call) == "device"
        and len(call.args) == 1
    )
    return call.args[0] if plain and isinstance(call, ast.Call) else None


def _kept_by_others(source: Source, stmt: ast.stmt) -> bool:
    """Whether a strategy or a library creates it, whose own rules say where."""
    for parent in source.ancestors(stmt):
        if isinstance(parent, ast.With) and any(
            called(item.context_expr) == "scope" for item in parent.items
        ):
            return True
        if isinstance(parent, Function) and parent.decorator_list:
            return True
    return False
