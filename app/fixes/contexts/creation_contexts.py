"""MXNet arrays that are made without a context only to be copied: made where the copy would take them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from app.facts.lines import split_site
from app.fixes.code.change import Change
from app.fixes.code.device_notation import alone, arrays
from app.fixes.code.names import bindings, called, root_of
from app.fixes.code.parsed_source import Source, first_line, is_compound, own_nodes
from app.fixes.contexts.array_creators import makes_nowhere
from app.fixes.contexts.repeated_copies import draws, made_there, moves_in
from app.fixes.situation import Draft, Situation


def made_where_used(situation: Situation) -> Draft | None:
    """The context that the copy names, or that of what is copied into, goes to the calls that make them."""
    return made_there(situation) or _assigned(situation) or _on_the_way(situation)


def _assigned(situation: Situation) -> Draft | None:
    """``buf[:] = nd.ones(8)``: made on the context of what it is written into."""
    source = situation.source
    for stmt in situation.statements:
        target = stmt.targets[0] if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 else None
        makers = _makers(source, stmt)
        if not isinstance(target, ast.Subscript) or len(makers) != 1:
            continue
        if not isinstance(target.value, ast.Name | ast.Attribute):
            return None
        into = source.code(target.value)
        change = Change(source)
        change.add_argument(makers[0], f"ctx={into}.{_attribute(source, stmt)}")
        return situation.draft(
            f"Makes the array on the context of {into}, which gets its values.", change.text()
        )
    return None


def _on_the_way(situation: Situation) -> Draft | None:
    """What a function makes first and copies at last, made on the context that the copy names."""
    source, copied = (
        situation.source,
        split_site(alone([str(one) for one in situation.evidence("copied_at")])),
    )
    places = [split_site(str(site)) for site in situation.evidence("made_at")]
    if copied is None or any(place is None for place in places):
        return None
    if {copied[0], *(place[0] for place in places if place)} != {situation.file}:
        return None
    found = [move for stmt in source.statements_at(copied[1]) for move in moves_in(stmt)]
    per_line = [
        [
            call
            for stmt in source.statements_at(place[1])
            if not is_compound(stmt)
            for call in _makers(source, stmt)
        ]
        for place in places
        if place
    ]
    if len(found) != 1 or not all(per_line):
        return None
    there, makers = found[0].args[0], list(dict.fromkeys(call for calls in per_line for call in calls))
    if not all(_known_at(source, there, call, found[0]) for call in makers):
        return None
    change = Change(source)
    for call in makers:
        change.add_argument(call, f"ctx={source.code(there)}")
    device = alone([hop.dst for hop in situation.hops]) or source.code(there)
    words = (
        f"Makes on {device} from the start what is copied there; {called(found[0])} then returns it as it is"
        f"{drawn(makers)}."
    )
    return situation.draft(words, change.text())


def drawn(makers: Iterable[ast.Call]) -> str:
    """What is to be said of random numbers among what is made on another device."""
    return "; a device draws other numbers than the host" if any(map(draws, makers)) else ""


def _makers(source: Source, stmt: ast.stmt) -> list[ast.Call]:
    """The calls of a statement that make arrays nowhere in particular, but for those of Python's data."""
    calls = (node for node in own_nodes(stmt) if isinstance(node, ast.Call))
    return [node for node in calls if makes_nowhere(source, node) and called(node) != "array"]


def _known_at(source: Source, context: ast.expr, call: ast.Call, move: ast.Call) -> bool:
    """Whether a context means the same, and is known, where an array is made that is copied there later."""
    if source.function_of(call) is not source.function_of(move):
        return False
    name = root_of(context) or root_of(context.func) if isinstance(context, ast.Call) else root_of(context)
    stmt = source.statement_of(move)
    every = bindings(source, name, call)
    if not name or stmt is None or every != bindings(source, name, move):
        return False
    # What gets another value by the copy's own statement, or below, is still the same up to there.
    once = source.loop_of(stmt) is None
    made = [one for one in every if not once or getattr(one, "lineno", 0) < first_line(stmt)]
    if len(made) != 1:
        return False
    here = source.scopes_of(made[0])[0] is source.scopes_of(call)[0]
    return isinstance(made[0], ast.arg) or not here or getattr(made[0], "lineno", call.lineno) < call.lineno


def _attribute(source: Source, at: ast.AST) -> str:
    """How an array of the code's names its context."""
    return "ctx" if (arrays(source, at) or "").endswith("np") else "context"
