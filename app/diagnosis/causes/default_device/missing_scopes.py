"""Ops that nobody placed: their statement goes into the scope of what they take, or of what takes them."""

from __future__ import annotations

import ast

from app.fixes.code.device_notation import alone, blocks_around
from app.fixes.code.names import called
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.scopes.device_scopes import scoped, statement_to_scope
from app.fixes.scopes.keras_fit import of_a_layer, trains_a_model
from app.fixes.situation import Draft, Situation


def default_device(situation: Situation) -> Draft | None:
    """The op goes to the device of its inputs, or to where its result is used."""
    by_producer = any(hop.cause.blames == "producer" for hop in situation.hops)
    device = alone([hop.dst if by_producer else hop.src for hop in situation.hops])
    # Keras' loop has its model's scope; who calls a layer decides for all of it.
    if device is None or trains_a_model(situation) or of_a_layer(situation):
        return None
    stmt = statement_to_scope(situation)
    if stmt is None or _moves_more(situation, stmt):
        return None
    where = f"where its result is used ({device})" if by_producer else f"where its input is ({device})"
    words = f"Runs the statement {where}; check that nothing else in it is meant for another device."
    return scoped(situation, device, words)


def _moves_more(situation: Situation, stmt: ast.stmt) -> bool:
    """Whether gradients of the statement would stay behind, or all that a function does would come along."""
    by_producer = all(hop.cause.blames == "producer" for hop in situation.hops)
    called_there = situation.ran.traced({called(node) for node in own_nodes(stmt)} - {""})
    hands_on = by_producer and any(not op.requested for op in called_there)
    return hands_on or taped_by_caller(situation, stmt)


def taped_by_caller(situation: Situation, stmt: ast.stmt) -> bool:
    """Whether a tape around a call of the statement's function watches it.

    The gradients are computed where the call is: were only the forward ops moved, all that the gradients need
    of them would come back to the default device.
    """
    function = situation.source.function_of(stmt)
    return function is not None and any(
        called(node) == function.name and _in_tape(source, node)
        for _, source in situation.sources
        for node in ast.walk(source.tree)
    )


def _in_tape(source: Source, node: ast.AST) -> bool:
    return any(
        called(item.context_expr) == "GradientTape"
        for block in blocks_around(source, node)
        for item in block.items
    )
