"""Where code reads the value that a name or an attribute was given, as far as the text of the file tells."""

from __future__ import annotations

import ast

from app.fixes.code.names import bindings, called
from app.fixes.code.parsed_source import Loop, Source

_OF_STEPS = frozenset({"backward", "forward_backward", "gradient", "apply_gradients", "minimize"})
"""Calls that a step makes once: what stands in one loop with them, and no inner one, is each step's."""


def loads_in(node: ast.AST, name: str) -> list[ast.Name]:
    """Every reading of a name in a piece of code."""
    return [
        part
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
    ]


def loads_of_attribute(node: ast.AST, attribute: str) -> list[ast.Attribute]:
    """Every reading of an attribute of this name in a piece of code, whichever object's it is."""
    return [
        part
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and part.attr == attribute and isinstance(part.ctx, ast.Load)
    ]


def loads_of(source: Source, target: ast.Name, stmt: ast.AST) -> list[ast.Name]:
    """The readings that get the value which a statement gives the name `target`.

    They go from there to where the name gets another value, and around the loop; what reads it once, when
    the loop is over, is left out, unless that is a loop inside of each step.
    """
    loop, scope = _loop_of_steps(source, stmt), source.scopes_of(stmt)[0]
    again = [
        (one.lineno, one.col_offset)
        for one in bindings(source, target.id, stmt)
        if isinstance(one, ast.Name | ast.arg) and one is not target
    ]
    end = (getattr(stmt, "end_lineno", 0) or 0, getattr(stmt, "end_col_offset", 0) or 0)
    later = [place for place in again if place > end]
    last = _end_of_statement(source, scope, min(later)) if later else None
    own = set(ast.walk(stmt))
    inside = set(ast.walk(loop)) if loop is not None else None
    rebound = inside is not None and any(
        (part.lineno, part.col_offset) in again for part in inside if isinstance(part, ast.Name)
    )
    found = []
    for load in loads_in(scope, target.id):
        place = (load.lineno, load.col_offset)
        after = place > end and (last is None or place <= last)
        around = inside is not None and place < end and not rebound
        if (inside is None or load in inside) and (after or around) and load not in own:
            found.append(load)
    return found


def _loop_of_steps(source: Source, stmt: ast.AST) -> Loop | None:
    """The innermost loop around a statement, or the one around that where it is known to be of the steps."""
    loop = source.loop_of(stmt)
    around = source.loop_of(loop) if loop is not None else None
    of_steps = around is not None and any(
        isinstance(one, ast.Call) and called(one) in _OF_STEPS and source.loop_of(one) is around
        for one in ast.walk(around)
    )
    return around if of_steps else loop


def _end_of_statement(source: Source, scope: ast.AST, place: tuple[int, int]) -> tuple[int, int] | None:
    """Where the statement ends that gives the name at a place its value."""
    for one in ast.walk(scope):
        if isinstance(one, ast.Name) and (one.lineno, one.col_offset) == place:
            stmt = source.statement_of(one)
            if stmt is not None and isinstance(stmt, ast.Assign | ast.AnnAssign | ast.AugAssign):
                return stmt.end_lineno or stmt.lineno, stmt.end_col_offset or 0
    return place
