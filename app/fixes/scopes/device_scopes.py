"""Statements in device scopes: the editor's ``with tf.device(..)``, and who may go into one."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from app.fixes.code.change import Change
from app.fixes.code.device_notation import (
    blocks_around,
    constant_of,
    devices_of,
    scope_arguments,
    scopes_around,
    tensorflow,
    tf_device,
    tf_named,
)
from app.fixes.code.names import bindings, calls_of, dotted, root_of
from app.fixes.code.parsed_source import Source, first_line, is_compound, own_nodes
from app.fixes.flow.dependents import moved_along
from app.fixes.scopes.framework_placement import has_strategy
from app.fixes.situation import Draft, Situation
from runners.python_source import parse_expression

_ASSIGNS = ("assign", "assign_add", "assign_sub", "scatter_update", "scatter_nd_update")
_COMPUTES = ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript
_LEAVES = ast.Yield | ast.YieldFrom | ast.Await


def device_header(situation: Situation, stmt: ast.stmt, device: str) -> str | None:
    """``tf.device(..)`` for a device at a statement; None where none can be, or it is no place for it."""
    source = situation.source
    if situation.leaves_gpu(device):
        return None
    argument = _own_expression(situation, stmt, device) or tf_device(source, stmt, device)
    tf = tensorflow(source, stmt)
    return f"{tf}.device({argument})" if tf and argument else None


def under_device(situation: Situation, stmts: Sequence[ast.stmt], device: str) -> Change | None:
    """Put statements into ``with tf.device(..)``, or into such a block right above; None where that fails."""
    header = device_header(situation, stmts[0], device)
    return _under(situation.source, stmts, header) if header is not None else None


def statement_to_scope(situation: Situation) -> ast.stmt | None:
    """The statement of the line that may go into a scope; None where none may."""
    source, line = situation.source, situation.line
    return next((one for one in situation.statements if _may_be_scoped(source, one, line)), None)


def scoped(situation: Situation, device: str, words: str) -> Draft | None:
    """The statement of the line under ``with tf.device(..)``.

    What goes on with its results on the default device comes along; None where that cannot.
    """
    stmt, source = statement_to_scope(situation), situation.source
    if stmt is None or situation.framework != "tensorflow" or has_strategy(situation):
        return None
    header = device_header(situation, stmt, device) if _may_leave(situation, stmt, device) else None
    if header is None or _scoped_alike(source, stmt, header):
        return None
    along = moved_along(situation, stmt, device, lambda one: _may_be_scoped(source, one, one.lineno))
    if along is None:
        return None
    wrapped = [one for one in along if not _scoped_alike(source, one, header)]
    if len(wrapped) > 1:
        words = f"Runs the statement, and those that share its tensors, on {device}: check that they may."
    return situation.draft(words, _under(source, wrapped, header))


def later(stmt: ast.stmt) -> bool:
    """Whether a statement is left while it runs, or makes what runs later, outside of any scope around it."""
    return any(isinstance(node, ast.Lambda | _LEAVES) for node in own_nodes(stmt))


def _under(source: Source, stmts: Sequence[ast.stmt], header: str) -> Change:
    change = Change(source)
    for group in _in_blocks(source, stmts):
        above = source.before(group[0])
        if isinstance(above, ast.With) and [source.code(one.context_expr) for one in above.items] == [header]:
            for one in group:
                change.indent(one, source.unit(above))
        else:
            change.wrap(group[0], f"with {header}:", *group[1:])
    return change


def _in_blocks(source: Source, stmts: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    """Statements in groups that follow each other in one block."""
    groups: list[list[ast.stmt]] = []
    for stmt in sorted(stmts, key=first_line):
        if groups and source.before(stmt) is groups[-1][-1]:
            groups[-1].append(stmt)
        else:
            groups.append([stmt])
    return groups


def _own_expression(situation: Situation, stmt: ast.stmt, device: str) -> str | None:
    """``card`` where ``with tf.device(card):`` stands in the statement's function and meant `device`.

    None where no scope names anything but a constant, where its names may have another value at the
    statement, or nothing ran in the scope by which it is known what it meant.
    """
    source = situation.source
    for argument in scope_arguments(source):
        block = next((one for one in blocks_around(source, argument) if argument in devices_of(one)), None)
        if block is None or devices_of(block) != [argument] or stmt in ast.walk(block):
            continue
        lines = range(block.body[0].lineno, (block.end_lineno or 0) + 1)
        sites = {f"{situation.file}:{line}" for line in lines}
        asked = {op.requested for op in situation.ran.ops() if op.site in sites and op.requested}
        if asked == {device} and _means_the_same(source, argument, stmt):
            return source.code(argument)
    return None


def _means_the_same(source: Source, argument: ast.expr, stmt: ast.stmt) -> bool:
    """Whether a name, or an attribute, means the same at a statement: nothing sets it below either."""
    here, root = source.scopes_of(stmt)[0], root_of(argument)
    if not isinstance(argument, ast.Name | ast.Attribute) or not root or isinstance(here, ast.Module):
        return False
    if source.scopes_of(argument)[0] is not here:
        return False
    above, names = min(first_line(stmt), argument.lineno), (dotted(argument), root)
    return bindings(source, root, stmt) == bindings(source, root, argument) and not any(
        isinstance(node, ast.Name | ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and node.lineno >= above
        and dotted(node) in names
        for node in ast.walk(here)
    )


def _may_leave(situation: Situation, stmt: ast.stmt, device: str) -> bool:
    """Whether no variable of the statement lives elsewhere, nor much comes from there: that would cross."""
    ran, sites = situation.ran, situation.sites(stmt)
    # Without that knowledge: what is assigned may live anywhere.
    unsure = not ran.known and calls_of(stmt, *_ASSIGNS)
    return not (ran.homes(sites) - {device} or unsure or situation.fed_from_others(sites, device))


def _may_be_scoped(source: Source, stmt: ast.stmt, line: int) -> bool:
    """Whether what the line does happens while the statement runs, and nothing else does then."""
    nodes = list(own_nodes(stmt))
    if is_compound(stmt) or not any(isinstance(node, _COMPUTES) for node in nodes):
        return False
    for node in nodes:
        match node:
            case ast.Yield() | ast.YieldFrom() | ast.Await():
                return False
            # What is made here runs later, outside of any scope around it.
            case ast.Lambda() if node.lineno <= line <= (node.end_lineno or 0):
                return False
            case ast.GeneratorExp() if not isinstance(source.parents[node], ast.Call):
                return False
    return True


def _scoped_alike(source: Source, stmt: ast.stmt, header: str) -> bool:
    """Whether the nearest device scope around it is this one already, so that one more changes nothing."""
    named = next(iter(scopes_around(source, stmt)), None)
    new = parse_expression(header)
    if named is None or not isinstance(new, ast.Call):
        return False
    if source.function_of(named) is not source.function_of(stmt):
        return False
    # ``"CPU:1"`` and ``"/CPU:1"`` are one device.
    devices = [tf_named(constant_of(source, one, stmt)) for one in (named, new.args[0])]
    return ast.unparse(named) == ast.unparse(new.args[0]) or devices[0] == devices[1] is not None
