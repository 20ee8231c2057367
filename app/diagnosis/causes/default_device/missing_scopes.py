"""What nobody placed: a statement goes into the scope of what it takes, or of what takes it.

And arrays of MXNet that are created without a context, only to be copied, are created where the copy would
take them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from app.diagnosis.causes.default_device.rules import Evidence
from app.fixes.code.change import Change
from app.fixes.code.device_notation import blocks_around, context_named, mx_context, opens
from app.fixes.code.names import bindings, called, calls_of, root_of
from app.fixes.code.parsed_source import Source, first_line
from app.fixes.flow.array_creators import context_of, creators, used_elsewhere
from app.fixes.scopes.device_scopes import scoped, statement_to_scope
from app.fixes.scopes.framework_placement import of_a_layer, trains_a_model
from app.fixes.situation import Draft, Situation
from app.views.naming import each, flat


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


_MOVES = ("as_in_context", "as_in_ctx")
_DRAWS = frozenset({"uniform", "normal", "randn", "randint", "poisson", "exponential", "gamma"})


def creation_context(situation: Situation) -> Draft | None:
    """The context that the copy names, or that of what is copied into, goes to the calls that create it."""
    return _on_the_way(situation) or _where_used(situation)


def _on_the_way(situation: Situation) -> Draft | None:
    """What a function creates first and copies at last, created on the context that the copy names."""
    source, evidence = situation.source, situation.evidence(Evidence)
    lines_of = each(evidence.copied_at), flat(evidence.made_at)
    ends = [[situation.at(site) for site in sites] for sites in lines_of]
    (copies, creations), files = ends, {end.file if end else "" for part in ends for end in part}
    if len(copies) != 1 or not creations or files != {situation.file}:
        return None
    moves = [move for end in copies if end for stmt in end.statements for move in _moves_in(stmt)]
    lines = [
        # Python's data is copied from the host all the same.
        [call for stmt in end.simple for call in creators(source, stmt) if called(call) != "array"]
        for end in creations
        if end
    ]
    created = list(dict.fromkeys(call for calls in lines for call in calls))
    if len(moves) != 1 or not all(lines):
        return None
    there = moves[0].args[0]
    known = all(_known_at(source, there, call, moves[0]) for call in created)
    if not known or situation.leaves_gpu(context_named(there) or ""):
        return None
    change = Change(source)
    for call in created:
        change.add_argument(call, f"ctx={source.code(there)}")
    words = (
        f"Makes on {situation.dst or source.code(there)} from the start what is copied there;"
        f" {called(moves[0])} then returns it as it is{_drawn(created)}."
    )
    return situation.draft(words, change)


def _where_used(situation: Situation) -> Draft | None:
    """``x + nd.ones(8)``, ``buf[:] = nd.ones(8)``: created on the device that takes it."""
    source, device = situation.source, wanted_device(situation)
    for stmt in situation.simple:
        calls = creators(source, stmt)
        if device is None or situation.leaves_gpu(device) or len(calls) != 1:
            continue
        context = mx_context(source, stmt, device)
        match stmt:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name() | ast.Attribute() as array), *_]):
                context = context_of(source, array)
            case ast.Assign(targets=[ast.Name() as name, *_]) if used_elsewhere(
                situation, name, stmt, device
            ):
                return None
        if context is None:
            return None
        change = Change(source)
        change.add_argument(calls[0], f"ctx={context}")
        words = f"Makes the array on {device} from the start, so that nothing crosses{_drawn(calls)}."
        return situation.draft(words, change)
    return None


def _moves_in(stmt: ast.stmt) -> list[ast.Call]:
    """The calls of a statement that copy an array to a context which they plainly name."""
    return [
        call
        for call in calls_of(stmt, *_MOVES)
        if isinstance(call.func, ast.Attribute) and len(call.args) == 1 and not call.keywords
        if isinstance(call.args[0], ast.Name | ast.Attribute) or context_named(call.args[0]) is not None
    ]


def _drawn(created: Iterable[ast.Call]) -> str:
    draws = any(called(call).removeprefix("random_") in _DRAWS for call in created)
    return "; a device draws other numbers than the host" if draws else ""


def _known_at(source: Source, context: ast.expr, call: ast.Call, move: ast.Call) -> bool:
    """Whether a context means the same, and is known, where an array is created that is copied there."""
    stmt, name = source.statement_of(move), root_of(getattr(context, "func", context))
    every = bindings(source, name, call)
    if source.function_of(call) is not source.function_of(move) or stmt is None:
        return False
    if not name or every != bindings(source, name, move):
        return False
    # What gets another value by the copy's own statement, or below, is still the same up to there.
    once = source.loop_of(stmt) is None
    given = [one for one in every if not once or getattr(one, "lineno", 0) < first_line(stmt)]
    if len(given) != 1:
        return False
    here = source.scopes_of(given[0])[0] is source.scopes_of(call)[0]
    return isinstance(given[0], ast.arg) or not here or getattr(given[0], "lineno", call.lineno) < call.lineno
