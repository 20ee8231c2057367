"""Ops on the wrong device: the statement goes into the device scope that it lacks."""

from __future__ import annotations

import ast

from app.fixes.code.change import Change
from app.fixes.code.device_constants import constant_of
from app.fixes.code.device_notation import blocks_around, devices_of, tf_named
from app.fixes.code.names import called
from app.fixes.code.parsed_source import Source, first_line, is_compound, own_nodes
from app.fixes.flow.dependents import moved_along
from app.fixes.scopes.device_expressions import device_header, put_under
from app.fixes.scopes.distribution_strategies import has_strategy
from app.fixes.situation import Draft, Situation
from runners.python_source import parse_expression

_ASSIGNS = frozenset({"assign", "assign_add", "assign_sub", "scatter_update", "scatter_nd_update"})


def statement_to_scope(situation: Situation) -> ast.stmt | None:
    """The statement of the line that may go into a scope; None where none may."""
    return next(
        (one for one in situation.statements if _may_be_scoped(situation.source, one, situation.line)), None
    )


def scoped(situation: Situation, device: str, words: str) -> Draft | None:
    """The statement of the line under ``with tf.device(..)``, or under the one that stands before it.

    What goes on with its results on the default device comes along; None where that cannot.
    """
    stmt = statement_to_scope(situation)
    if stmt is None or situation.framework != "tensorflow" or has_strategy(situation):
        return None
    source = situation.source
    if not _may_leave(situation, stmt, device):
        return None
    header = device_header(situation, situation.file, source, stmt, device)
    along = moved_along(situation, stmt, device, lambda one: _may_be_scoped(source, one, one.lineno))
    if header is None or along is None or _scoped_alike(source, stmt, header):
        return None
    wrapped = [one for one in along if not _scoped_alike(source, one, header)]
    if len(wrapped) > 1:
        words = f"Runs the statement, and those that share its tensors, on {device}: check that they may."
    change = Change(source)
    put_under(source, change, wrapped, header)
    return situation.draft(words, change.text())


def _may_leave(situation: Situation, stmt: ast.stmt, device: str) -> bool:
    """Whether no variable of the statement lives elsewhere, nor much comes from there: that would cross."""
    ran, lines = situation.ran, (first_line(stmt), stmt.end_lineno or 0)
    # Without that knowledge: what is assigned may live anywhere.
    unsure = not ran.known and any(called(node) in _ASSIGNS for node in own_nodes(stmt))
    away = ran.homes(situation.file, *lines) - {device}
    return not (away or unsure or situation.fed_from_others(*lines, device))


def _may_be_scoped(source: Source, stmt: ast.stmt, line: int) -> bool:
    """Whether what the line does happens while the statement runs, and nothing else does then."""
    if is_compound(stmt) or isinstance(
        stmt, ast.Import | ast.ImportFrom | ast.Pass | ast.Global | ast.Nonlocal
    ):
        return False
    for node in own_nodes(stmt):
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
            return False
        # What is made here runs later, outside of any scope around it.
        if isinstance(node, ast.Lambda) and node.lineno <= line <= (node.end_lineno or 0):
            return False
        if isinstance(node, ast.GeneratorExp) and not isinstance(source.parents[node], ast.Call):
            return False
    return any(
        isinstance(node, ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript)
        for node in own_nodes(stmt)
    )


def _scoped_alike(source: Source, stmt: ast.stmt, header: str) -> bool:
    """Whether the nearest device scope around it is this one already, so that one more changes nothing."""
    named = next((devices_of(block)[0] for block in blocks_around(source, stmt) if devices_of(block)), None)
    if named is None or source.function_of(named) is not source.function_of(stmt):
        return False
    new = parse_expression(header)
    wanted = new.args[0] if isinstance(new, ast.Call) else new
    # ``"CPU:1"`` and ``"/CPU:1"`` are one device.
    devices = [tf_named(constant_of(source, one, stmt)) for one in (named, wanted)]
    return ast.unparse(named) == ast.unparse(wanted) or devices[0] == devices[1] is not None
