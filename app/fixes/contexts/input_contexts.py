"""The context of what a function is given, as code: what is made in it then goes wherever its input is."""

from __future__ import annotations

import ast

from app.fixes.code.device_notation import arrays, mx_context
from app.fixes.code.parsed_source import Function, Source, first_line, header_end
from app.fixes.contexts.array_creators import COPIES
from app.fixes.situation import Situation

_CONTEXTS = ("context", "ctx")
_COMPUTES = ("forward", "hybrid_forward")


def context_for(situation: Situation, source: Source, file: str, call: ast.AST, device: str) -> str | None:
    """``x.context`` of an input of the function that lies on the device, else that by its name."""
    name = _input_of(situation, source, file, call, device)
    return name or mx_context(source, call, device)


def _input_of(situation: Situation, source: Source, file: str, call: ast.AST, device: str) -> str | None:
    """Of a Block's forward its first array, of any function one whose context it asks for above."""
    function = source.function_of(call)
    if function is None:
        return None
    line = getattr(call, "lineno", 0)
    given = [one.arg for one in function.args.args if one.arg not in ("self", "F")]
    bound = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        if node.lineno <= line or source.loop_of(node) is not None  # below, it is another array's name
    }
    asked = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and node.attr in _CONTEXTS and node.lineno <= line
        if isinstance(node.value, ast.Name) and node.value.id in given
    ]
    for node in asked:
        if isinstance(node.value, ast.Name) and node.value.id not in bound:
            seen = _computed_on(situation, source, file, function, node.value.id)
            if seen <= {device}:
                return source.code(node)
    if function.name not in _COMPUTES or not given or given[0] in bound:
        return None
    there = _computed_on(situation, source, file, function, given[0]) == {device}
    numpy_like = (arrays(source, call) or "").endswith("np")
    return f"{given[0]}.{'ctx' if numpy_like else 'context'}" if there else None


def _computed_on(situation: Situation, source: Source, file: str, function: Function, name: str) -> set[str]:
    """The devices on which a function's lines compute that read one of its arguments.

    But for the finding's own lines: there it met what lies elsewhere.
    """
    told = {situation.finding.site, *map(str, situation.evidence("also_at"))}
    users = {
        user
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        if (user := source.statement_of(node)) is not None
        if f"{file}:{first_line(user)}" not in told
    }
    ops = (op for user in users for op in situation.ran.computed(file, first_line(user), header_end(user)))
    return {op.assigned for op in ops if op.assigned and op.type not in COPIES}
