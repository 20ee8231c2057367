"""Device scopes as the file writes them, and statements in these."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from app.fixes.code.change import Change
from app.fixes.code.device_notation import blocks_around, devices_of, scope_arguments, tensorflow, tf_device
from app.fixes.code.names import bindings, dotted, root_of
from app.fixes.code.parsed_source import Source, first_line
from app.fixes.flow.dependents import in_blocks
from app.fixes.situation import Situation


def device_header(situation: Situation, file: str, source: Source, stmt: ast.stmt, device: str) -> str | None:
    """``tf.device(..)`` for a device at a statement; None where none can be."""
    own, tf = _own_expression(situation, file, source, stmt, device), tensorflow(source, stmt)
    argument = own or tf_device(source, stmt, device)
    return f"{tf}.device({argument})" if tf and argument else None


def put_under(source: Source, change: Change, stmts: Sequence[ast.stmt], header: str) -> None:
    """Put statements into ``with`` blocks of this header, or into such a block right above them."""
    for group in in_blocks(source, stmts):
        above = source.before(group[0])
        items = above.items if isinstance(above, ast.With) else []
        if above is not None and [source.code(item.context_expr) for item in items] == [header]:
            for one in group:
                change.indent(one, source.unit(above))
        else:
            change.wrap(group[0], f"with {header}:", *group[1:])


def _own_expression(
    situation: Situation, file: str, source: Source, stmt: ast.stmt, device: str
) -> str | None:
    """``card`` where ``with tf.device(card):`` stands in the statement's function and meant `device`.

    None where no scope names anything but a constant, where its names may have another value at the
    statement, or nothing ran in the scope by which it is known what it meant.
    """
    for argument in scope_arguments(source):
        if not isinstance(argument, ast.Name | ast.Attribute) or not _visible(source, argument, stmt):
            continue
        blocks = (one for one in blocks_around(source, argument) if argument in devices_of(one))
        block = next(blocks, None)
        if block is None or devices_of(block) != [argument] or stmt in ast.walk(block):
            continue
        lines = {f"{file}:{line}" for line in range(block.body[0].lineno, (block.end_lineno or 0) + 1)}
        asked = {op.requested for op in situation.ran.ops() if op.site in lines and op.requested}
        if asked == {device}:
            return source.code(argument)
    return None


def _visible(source: Source, argument: ast.expr, stmt: ast.stmt) -> bool:
    """Whether a name, or an attribute, means the same at the statement: nothing sets it below either."""
    here = source.scopes_of(stmt)[0]
    if source.scopes_of(argument)[0] is not here or isinstance(here, ast.Module) or not root_of(argument):
        return False
    same = bindings(source, root_of(argument), stmt) == bindings(source, root_of(argument), argument)
    above = min(first_line(stmt), argument.lineno)
    given = (node for node in ast.walk(here) if isinstance(node, ast.Name | ast.Attribute))
    return same and not any(
        isinstance(node.ctx, ast.Store)
        and node.lineno >= above
        and dotted(node) in (dotted(argument), root_of(argument))
        for node in given
    )
