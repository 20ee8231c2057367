"""Gradients of forward ops on several devices: each is computed beside its own forward op."""

from __future__ import annotations

import ast

from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import tensorflow
from app.fixes.code.names import called, dotted, value_of
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.situation import Draft, Situation
from app.views.naming import flat

_LISTS = frozenset({"trainable_variables", "variables"})
_ASSIGNS = frozenset({"assign", "assign_add", "assign_sub"})
_UNSURE = ("stop_recording", "custom_gradient", "recompute_grad", "persistent", "keras")
"""Where these are used, TensorFlow 1's function may mean something else, or know no variable of Keras 3."""


def beside_forward(situation: Situation) -> Draft | None:
    """``tape.gradient(loss, variables)`` in a traced function: TensorFlow 1's function colocates them."""
    source = situation.source
    traced = all(graph for hop in situation.hops for graph in hop.graphs)
    if not situation.hops or not traced or any(word in source.text for word in _UNSURE):
        return None
    for stmt in situation.statements:
        for node in own_nodes(stmt):
            tf = tensorflow(source, stmt)
            if isinstance(node, ast.Call) and tf is not None and _of_one_tape(source, stmt, node):
                change = Change(source)
                if not isinstance(stmt, ast.Assign) or not applied_there(source, stmt, tf, change):
                    return None
                loss, wanted = (source.code(one) for one in node.args)
                new = f"{tf}.compat.v1.gradients({loss}, {wanted}, colocate_gradients_with_ops=True)"
                change.replace(node, new)
                words = (
                    "Computes each gradient beside its forward op, by TensorFlow 1's function, which works"
                    " inside a tf.function only and needs no tape."
                )
                return situation.draft(words, change.text())
    return None


def forward_devices(situation: Situation) -> set[str]:
    """The devices that the line's gradients belong to, those too of the gradients that are there already."""
    names = ("forward_requested", "producer_forward_requested", "gradients_of")
    return {str(device) for name in names for device in flat(situation.evidence(name))}


def _of_one_tape(source: Source, stmt: ast.stmt, call: ast.Call) -> bool:
    """Whether a call asks the only tape of its function for a list, and nothing is computed before that."""
    function = source.function_of(stmt)
    if function is None or called(call) != "gradient" or len(call.args) != 2 or call.keywords:
        return False
    tapes = [
        (block, item)
        for block in ast.walk(function)
        if isinstance(block, ast.With)
        for item in block.items
        if called(item.context_expr) == "GradientTape"
    ]
    if len(tapes) != 1 or not isinstance(call.func, ast.Attribute):
        return False
    block, item = tapes[0]
    if item.optional_vars is None or dotted(item.optional_vars) != dotted(call.func.value):
        return False
    # Of what was computed before, the tape knows nothing, but the graph does.
    before = [
        node
        for one in function.body
        for node in ast.walk(one)
        if isinstance(node, ast.Call | ast.BinOp) and node.lineno < block.lineno
        if called(node) not in ("device", "GradientTape")
    ]
    return not before and isinstance(call.args[0], ast.Name) and _is_list(source, call.args[1])


def applied_there(
    source: Source, made: ast.Assign, tf: str, change: Change, by_optimizer: bool = True
) -> bool:
    """Whether the gradients are only given to an optimizer, or to assignments, which go to their variables.

    What else is done with them would run on the default device. Without `by_optimizer` to assignments alone.
    """
    target = made.targets[0]
    function = source.function_of(made)
    if len(made.targets) != 1 or not isinstance(target, ast.Name) or function is None:
        return False
    uses = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == target.id]
    for use in uses:
        if use is target:
            continue
        user = source.statement_of(use)
        if isinstance(user, ast.For):
            assigned = _assigned_in(user)
            if assigned is None or unfolded(source, user.body[0])[0] is not source:
                return False
            change.wrap(user.body[0], f"with {tf}.device({assigned}.device):")
        elif not by_optimizer or not isinstance(user, ast.Expr) or called(user.value) != "apply_gradients":
            return False
    return len(uses) > 1


def _assigned_in(loop: ast.For) -> str | None:
    """The variable's name in ``for v, g in zip(..): v.assign_sub(..)``, where that is the whole body."""
    names = [dotted(one) for one in loop.target.elts] if isinstance(loop.target, ast.Tuple) else []
    only = loop.body[0].value if len(loop.body) == 1 and isinstance(loop.body[0], ast.Expr) else None
    if (
        called(loop.iter) != "zip"
        or not isinstance(only, ast.Call)
        or not isinstance(only.func, ast.Attribute)
    ):
        return None
    name = dotted(only.func.value)
    return name if only.func.attr in _ASSIGNS and name in names else None


def _is_list(source: Source, node: ast.expr | None) -> bool:
    if isinstance(node, ast.Name):
        node = value_of(source, node.id, node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_list(source, node.left) and _is_list(source, node.right)
    if isinstance(node, ast.Attribute):  # those of a tf.Module: of Keras there are none here
        return node.attr in _LISTS
    return isinstance(node, ast.List | ast.ListComp)
