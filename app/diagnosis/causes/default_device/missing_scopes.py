"""Ops that nobody placed: their statement goes into the scope of what they take, or of what takes them."""

from __future__ import annotations

import ast

from app.fixes.code.device_notation import blocks_around, opens
from app.fixes.code.names import called
from app.fixes.scopes.device_scopes import scoped, statement_to_scope
from app.fixes.scopes.framework_placement import of_a_layer, trains_a_model
from app.fixes.situation import Draft, Situation


def missing_scope(situation: Situation) -> Draft | None:
    """The op goes to the device of its inputs, or to where its result is used."""
    by_producer = situation.by_producer
    device, stmt = wanted_device(situation), statement_to_scope(situation)
    # Keras' loop has its model's scope; who calls a layer decides for all of it.
    if device is None or stmt is None or trains_a_model(situation) or of_a_layer(situation):
        return None
    if _moves_more(situation, stmt):
        return None
    where = f"where its result is used ({device})" if by_producer else f"where its input is ({device})"
    words = f"Runs the statement {where}; check that nothing else in it is meant for another device."
    return scoped(situation, device, words)


def wanted_device(situation: Situation) -> str | None:
    """The one device that the op of a finding belongs to: of its inputs, or where its result is used."""
    return situation.dst if situation.by_producer else situation.src


def _moves_more(situation: Situation, stmt: ast.stmt) -> bool:
    """Whether gradients of the statement would stay behind, or all that a function does would come along."""
    by_producer = all(hop.cause.blames == "producer" for hop in situation.hops)
    hands_on = by_producer and any(not op.requested for op in situation.traced(stmt))
    return hands_on or _taped_by_caller(situation, stmt)


def _taped_by_caller(situation: Situation, stmt: ast.stmt) -> bool:
    """Whether a tape around a call of the statement's function watches it.

    The gradients are computed where the call is: were only the forward ops moved, all that the gradients need
    of them would come back to the default device.
    """
    function = situation.source.function_of(stmt)
    return function is not None and any(
        called(call) == function.name
        and any(opens(block, "GradientTape") for block in blocks_around(source, call))
        for _, source in situation.sources
        for call in source.every(ast.Call)
    )
