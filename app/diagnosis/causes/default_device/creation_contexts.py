"""MXNet arrays that are made without a context, only to be copied: made where the copy would take them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from app.diagnosis.causes.default_device.evidence import Evidence
from app.facts.lines import split_site
from app.fixes.code.change import Change
from app.fixes.code.device_notation import alone, context_named, mx_context
from app.fixes.code.names import bindings, called, root_of
from app.fixes.code.parsed_source import Source, first_line, is_compound, own_nodes
from app.fixes.flow.array_creators import context_of, makers, used_elsewhere
from app.fixes.situation import Draft, Situation
from app.views.naming import each, flat

_MOVES = frozenset({"as_in_context", "as_in_ctx"})
_DRAWS = frozenset({"uniform", "normal", "randn", "randint", "poisson", "exponential", "gamma"})


def default_context(situation: Situation) -> Draft | None:
    """The context that the copy names, or that of what is copied into, goes to the calls that make it."""
    return _on_the_way(situation) or _where_used(situation)


def _on_the_way(situation: Situation) -> Draft | None:
    """What a function makes first and copies at last, made on the context that the copy names."""
    source, evidence = situation.source, situation.evidence(Evidence)
    copied_at = each(evidence.copied_at)
    copied, *places = [split_site(site) for site in [*copied_at, *flat(evidence.made_at)]] or [None]
    if (
        copied is None
        or not places
        or {place and place[0] for place in (copied, *places)} != {situation.file}
    ):
        return None
    moves = [move for stmt in source.statements_at(copied[1]) for move in _moves_in(stmt)]
    lines = [
        [call for stmt in source.statements_at(at[1]) for call in _made(source, stmt)] for at in places if at
    ]
    made = list(dict.fromkeys(call for calls in lines for call in calls))
    if len(copied_at) != 1 or len(moves) != 1 or not all(lines):
        return None
    there = moves[0].args[0]
    if not all(_known_at(source, there, call, moves[0]) for call in made):
        return None
    change = Change(source)
    for call in made:
        change.add_argument(call, f"ctx={source.code(there)}")
    device = alone([hop.dst for hop in situation.hops]) or source.code(there)
    words = (
        f"Makes on {device} from the start what is copied there; {called(moves[0])} then returns it as it is"
        f"{_drawn(made)}."
    )
    return situation.draft(words, change.text())


def _where_used(situation: Situation) -> Draft | None:
    """``x + nd.ones(8)``, ``buf[:] = nd.ones(8)``: made on the device that takes it."""
    source = situation.source
    by_producer = any(hop.cause.blames == "producer" for hop in situation.hops)
    device = alone([hop.dst if by_producer else hop.src for hop in situation.hops])
    for stmt in situation.statements:
        calls, target = makers(source, stmt), stmt.targets[0] if isinstance(stmt, ast.Assign) else None
        if device is None or is_compound(stmt) or len(calls) != 1:
            continue
        context = mx_context(source, stmt, device)
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name | ast.Attribute):
            context = context_of(source, target.value)
        elif isinstance(target, ast.Name) and used_elsewhere(situation, target, stmt, device):
            return None
        if context is None:
            return None
        change = Change(source)
        change.add_argument(calls[0], f"ctx={context}")
        words = f"Makes the array on {device} from the start, so that nothing crosses{_drawn(calls)}."
        return situation.draft(words, change.text())
    return None


def _moves_in(stmt: ast.stmt) -> list[ast.Call]:
    """The calls of a statement that copy an array to a context which they plainly name."""
    return [
        node
        for node in own_nodes(stmt)
        if isinstance(node, ast.Call) and called(node) in _MOVES and isinstance(node.func, ast.Attribute)
        if len(node.args) == 1 and not node.keywords
        if isinstance(node.args[0], ast.Name | ast.Attribute) or context_named(node.args[0]) is not None
    ]


def _drawn(made: Iterable[ast.Call]) -> str:
    """What is to be said of random numbers among what is made on another device."""
    draws = any(called(call).removeprefix("random_") in _DRAWS for call in made)
    return "; a device draws other numbers than the host" if draws else ""


def _made(source: Source, stmt: ast.stmt) -> list[ast.Call]:
    """The calls of a statement that make arrays nowhere in particular, but for those of Python's data."""
    return [] if is_compound(stmt) else [call for call in makers(source, stmt) if called(call) != "array"]


def _known_at(source: Source, context: ast.expr, call: ast.Call, move: ast.Call) -> bool:
    """Whether a context means the same, and is known, where an array is made that is copied there later."""
    stmt, name = (
        source.statement_of(move),
        root_of(context.func if isinstance(context, ast.Call) else context),
    )
    every = bindings(source, name, call)
    if source.function_of(call) is not source.function_of(move) or stmt is None:
        return False
    if not name or every != bindings(source, name, move):
        return False
    # What gets another value by the copy's own statement, or below, is still the same up to there.
    once = source.loop_of(stmt) is None
    made = [one for one in every if not once or getattr(one, "lineno", 0) < first_line(stmt)]
    if len(made) != 1:
        return False
    here = source.scopes_of(made[0])[0] is source.scopes_of(call)[0]
    return isinstance(made[0], ast.arg) or not here or getattr(made[0], "lineno", call.lineno) < call.lineno
