"""A function, or a lambda, that only tells a value, called in a loop: it is called every so many rounds."""

from __future__ import annotations

import ast

from app.fixes.code.change import Change, unfolded
from app.fixes.code.names import called
from app.fixes.code.parsed_source import Source
from app.fixes.flow.host_reads import is_pure, tells
from app.fixes.loops import periods
from app.fixes.loops.loop_guards import thinned
from app.fixes.situation import Draft, Situation


def told_by_function(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``def log(i, loss): print(i, float(loss))`` and ``log = lambda ..``: the one call of it is seldom."""
    source = situation.source
    name = _teller(source, stmt)
    if not name:
        return None
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and called(node) == name]
    uses = [node for node in ast.walk(source.tree) if _names(node, name)]
    user = source.statement_of(calls[0]) if len(calls) == 1 else None
    # Handed on, as a callback is, others call it too.
    if len(calls) != len(uses) or not isinstance(user, ast.Expr) or user.value is not calls[0]:
        return None
    loop = periods.step_loop(situation, user, 1)
    given = [*calls[0].args, *(one.value for one in calls[0].keywords)]
    if loop is None or thinned(situation, user, loop) or not all(map(is_pure, given)):
        return None
    change = Change(source)
    condition = periods.condition(source, loop, change, periods.seen(situation))
    if condition is None or unfolded(source, user)[0] is not source:
        return None
    change.wrap(user, f"if {condition[0]}:")
    words = f"Calls {name}, which takes and tells the value, every {condition[1]} rounds of the loop."
    return situation.draft(words, change.text())


def _teller(source: Source, stmt: ast.stmt) -> str:
    """The name of the function that a statement is in, or of the lambda that it makes, if that only tells."""
    if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Lambda):
        target = stmt.targets[0]
        alone = len(stmt.targets) == 1 and isinstance(target, ast.Name)
        only = tells(ast.Expr(stmt.value.body)) and _plain(stmt.value.body)
        return target.id if alone and only and isinstance(target, ast.Name) else ""
    function = source.function_of(stmt)
    if function is None or function.decorator_list or isinstance(function, ast.AsyncFunctionDef):
        return ""
    inside = [one for one in function.body if not _is_text(one)]
    if not all(tells(one) and _plain(one.value) for one in inside if isinstance(one, ast.Expr)):
        return ""
    return function.name if inside and all(isinstance(one, ast.Expr) for one in inside) else ""


def _plain(node: ast.expr) -> bool:
    """Whether all that is done beside telling may be left out."""
    given = [*node.args, *(one.value for one in node.keywords)] if isinstance(node, ast.Call) else [node]
    return all(map(is_pure, given))


def _is_text(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)


def _names(node: ast.AST, name: str) -> bool:
    """Whether a piece of code uses the function by its name, however it is reached."""
    if isinstance(node, ast.Attribute):
        return node.attr == name
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
