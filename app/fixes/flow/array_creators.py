"""Calls that create MXNet's arrays nowhere in particular, and who else computes with these."""

from __future__ import annotations

import ast
from collections.abc import Collection

from app.fixes.code.device_notation import arrays, context_attribute
from app.fixes.code.names import bindings, called, calls_of, dotted, imported, keyword
from app.fixes.code.parsed_source import Source, first_line, parts
from app.fixes.situation import Situation

_CREATE = (
    *("zeros", "ones", "full", "empty", "arange", "eye", "linspace", "array", "begin_state"),
    *("random_normal", "random_uniform", "uniform", "normal", "randn", "randint", "rand"),
    *("poisson", "exponential", "gamma"),
)
_COPIES = frozenset({"_copyto", "_copy", "_np_copy"})


def creators(source: Source, stmt: ast.stmt) -> list[ast.Call]:
    """The calls of a statement that create an array without a context."""
    return [call for call in calls_of(stmt, *_CREATE) if _creates_nowhere(source, call)]


def context_of(source: Source, array: ast.expr) -> str:
    """Code for the context of an array, as the file's kind of arrays names it."""
    return f"{source.code(array)}.{context_attribute(source, array)}"


def used_elsewhere(
    situation: Situation, made: ast.expr, stmt: ast.stmt, device: str, along: Collection[str] = ()
) -> bool:
    """Whether another statement computes with an array, and with others, on another device.

    What computes with it alone, or with those that go along, follows it.
    """
    source, known = situation.source, {situation.finding.site, *(situation.finding.evidence.also_at or ())}
    path, name = dotted(made), made.id if isinstance(made, ast.Name) else ""
    reads = [node for node in source.every(ast.expr) if isinstance(getattr(node, "ctx", None), ast.Load)]
    users = {
        user
        for node in reads
        if dotted(node) == path
        if not name or bindings(source, name, node) == bindings(source, name, stmt)
        if (user := source.statement_of(node)) is not None and user is not stmt
        if f"{situation.file}:{first_line(user)}" not in known and _variables(source, user) - {path, *along}
    }
    return any(
        op.assigned not in ("", device) and op.type not in _COPIES
        for op in situation.ran.computed(situation.sites(*users))
    )


def _creates_nowhere(source: Source, call: ast.Call) -> bool:
    if keyword(call, "ctx", "device"):
        return False
    module = arrays(source, call)
    if called(call) == "begin_state":
        return True
    # `mx.nd.random.normal`, `nd.ones`, and `mx.random.normal`; what is numpy's begins otherwise.
    return module is not None and dotted(call.func).startswith(
        (f"{module}.", f"{module.partition('.')[0]}.random.")
    )


def _variables(source: Source, stmt: ast.stmt) -> set[str]:
    """The names that a statement reads, but for those of modules and of what it calls."""
    names = {node for node in parts(stmt, ast.Name) if isinstance(node.ctx, ast.Load)}
    return {node.id for node in names - {call.func for call in calls_of(stmt)}} - imported(source, stmt)
