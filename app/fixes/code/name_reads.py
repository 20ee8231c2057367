"""Where code reads the value that a statement gives a name, as far as the text of the file tells."""

from __future__ import annotations

import ast

from app.fixes.code.names import bindings, called, loads_in
from app.fixes.code.parsed_source import Loop, Source

_OF_STEPS = frozenset({"backward", "forward_backward", "gradient", "apply_gradients", "minimize"})
"""Calls that a step makes once: what stands in one loop with them, and no inner one, is each step's."""


def loads_of(source: Source, target: ast.Name, stmt: ast.AST) -> list[ast.Name]:
    """The readings that get the value which a statement gives the name `target`.

    They go from there to where the name gets another value, and around the loop; what reads it once, when
    the loop is over, is left out, unless that is a loop inside of each step.
    """
    loop, scope = _loop_of_steps(source, stmt), source.scopes_of(stmt)[0]
    given = bindings(source, target.id, stmt)
    again = [_place(one) for one in given if isinstance(one, ast.Name | ast.arg) and one is not target]
    end = (getattr(stmt, "end_lineno", 0) or 0, getattr(stmt, "end_col_offset", 0) or 0)
    later = [place for place in again if place > end]
    last = _end_of_statement(source, scope, min(later)) if later else None
    own, inside = set(ast.walk(stmt)), set(ast.walk(loop or scope))
    around = loop is not None and not any(_place(one) in again for one in inside if isinstance(one, ast.Name))
    return [
        load
        for load in loads_in(scope)
        if load.id == target.id and load in inside and load not in own
        if (_place(load) > end and (last is None or _place(load) <= last)) or (around and _place(load) < end)
    ]


def _place(node: ast.Name | ast.arg) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _loop_of_steps(source: Source, stmt: ast.AST) -> Loop | None:
    """The innermost loop around a statement, or the one around that where it is known to be of the steps."""
    loop = source.loop_of(stmt)
    around = source.loop_of(loop) if loop is not None else None
    steps = (one for one in ast.walk(around or source.tree) if called(one) in _OF_STEPS)
    return around if around is not None and any(source.loop_of(one) is around for one in steps) else loop


def _end_of_statement(source: Source, scope: ast.AST, place: tuple[int, int]) -> tuple[int, int]:
    """Where the statement ends that gives the name at a place its value."""
    for one in ast.walk(scope):
        if isinstance(one, ast.Name) and _place(one) == place:
            stmt = source.statement_of(one)
            if isinstance(stmt, ast.Assign | ast.AnnAssign | ast.AugAssign):
                return stmt.end_lineno or stmt.lineno, stmt.end_col_offset or 0
    return place
