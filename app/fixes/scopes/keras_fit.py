"""Keras' loop, called outside of the scope that its model was made in: the call goes in there."""

from __future__ import annotations

import ast

from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import blocks_around, devices_of, tensorflow, tf_device
from app.fixes.code.names import called, dotted
from app.fixes.code.parsed_source import Source, is_compound, own_nodes
from app.fixes.flow.dependents import in_blocks
from app.fixes.scopes.distribution_strategies import has_strategy
from app.fixes.situation import Draft, Situation

_LOOPS = frozenset({"fit", "train_on_batch"})


def in_models_scope(situation: Situation, device: str) -> Draft | None:
    """``model.compile(..)`` and ``model.fit(..)`` in the scope of the device that the weights live on.

    None where the line has nothing to do with Keras' loop, or code inside it, or a strategy, asks for devices
    itself.
    """
    if has_strategy(situation):
        return None
    place = _loop_at(situation) or (_the_only_loop(situation) if of_a_layer(situation) else None)
    if place is None or any(op.requested not in ("", device) for op in situation.ran.ops() if op.function):
        return None
    file, source, stmt, model = place
    if not situation.ran.made_on(device) or any(
        devices_of(block) or any(called(item.context_expr) == "scope" for item in block.items)
        for block in blocks_around(source, stmt)
    ):
        return None
    tf, argument = tensorflow(source, stmt), tf_device(source, stmt, device)
    chosen = [*_compiling(source, stmt, model), stmt]
    if tf is None or argument is None or any(unfolded(source, one)[0] is not source for one in chosen):
        return None
    change = Change(source)
    for group in in_blocks(source, chosen):
        change.wrap(group[0], f"with {tf}.device({argument}):", *group[1:])
    words = (
        f"Trains the model on {device}, where it was made: a scope counts where ops are made, and Keras makes"
        " them in this call; metrics and callbacks run there too."
    )
    return situation.draft(words, change.text(), file)


def trains_a_model(situation: Situation) -> bool:
    """Whether the line calls Keras' loop: its scope would move callbacks, metrics and logs along."""
    return any(
        called(node) in _LOOPS
        for stmt in situation.statements
        for node in ast.walk(stmt)
        if not is_compound(stmt)
    )


def of_a_layer(situation: Situation) -> bool:
    """Whether the line is in a layer's or model's `call`, in a class that opens no device scope."""
    source = situation.source
    for stmt in situation.statements[:1]:
        function = source.function_of(stmt)
        holder = source.parents.get(function) if function is not None else None
        if function is None or function.name != "call" or not isinstance(holder, ast.ClassDef):
            return False
        return not any(isinstance(one, ast.With) and devices_of(one) for one in ast.walk(holder))
    return False


_Loop = tuple[str, Source, ast.stmt, str]


def _loop_at(situation: Situation) -> _Loop | None:
    for stmt in situation.statements:
        if not is_compound(stmt) and (model := _trained(stmt)):
            return situation.file, situation.source, stmt, model
    return None


def _the_only_loop(situation: Situation) -> _Loop | None:
    found: list[_Loop] = []
    for file in dict.fromkeys([situation.file, *situation.files]):
        source = situation.opened(file)
        for stmt in ast.walk(source.tree) if source is not None else ():
            if source is not None and isinstance(stmt, ast.Expr | ast.Assign) and (model := _trained(stmt)):
                found.append((file, source, stmt, model))
    return found[0] if len(found) == 1 else None


def _trained(stmt: ast.stmt) -> str:
    """The model that a statement trains, as code; '' for any other statement."""
    for node in own_nodes(stmt):
        if isinstance(node, ast.Lambda):
            return ""
        if isinstance(node, ast.Call) and called(node) in _LOOPS and isinstance(node.func, ast.Attribute):
            return dotted(node.func.value)
    return ""


def _compiling(source: Source, stmt: ast.stmt, model: str) -> list[ast.stmt]:
    """The statement above, in the same block, that compiles the model."""
    return [
        one
        for one in source.block_of(stmt)
        if isinstance(one, ast.Expr)
        and one.lineno < stmt.lineno
        and called(one.value) == "compile"
        and isinstance(one.value, ast.Call)
        and isinstance(one.value.func, ast.Attribute)
        and dotted(one.value.func.value) == model
    ]
