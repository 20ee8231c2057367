"""Ops on the wrong device: the statement goes into the device scope that it lacks."""

from __future__ import annotations

import ast

from app.facts.devices import default_device as default_of
from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_constants import constant_of
from app.fixes.code.device_notation import alone, devices_of, tensorflow, tf_device, tf_named
from app.fixes.code.names import called, dotted, read_in
from app.fixes.code.parsed_source import Function, Source, first_line, is_compound, own_nodes
from app.fixes.flow.callers import taped_by_caller
from app.fixes.flow.dependents import in_blocks, moved_along
from app.fixes.scopes.device_expressions import own_expression
from app.fixes.scopes.keras_fit import of_a_layer, trains_a_model
from app.fixes.situation import Draft, Situation
from app.views.naming import flat
from runners.python_source import parse_expression

_ASSIGNS = frozenset({"assign", "assign_add", "assign_sub", "scatter_update", "scatter_nd_update"})
_CREATES = frozenset({"Variable", "get_variable", "add_weight"})
_CHECK_VARIABLE = "check what else uses the variable, and that it fits into that memory"


def default_device(situation: Situation) -> Draft | None:
    """The op goes to the device of its inputs, or to where its result is used."""
    by_producer = any(hop.cause.blames == "producer" for hop in situation.hops)
    device = alone([hop.dst if by_producer else hop.src for hop in situation.hops])
    # Keras' loop has its model's scope; who calls a layer decides for all of it.
    if device is None or trains_a_model(situation) or of_a_layer(situation):
        return None
    where = f"where its result is used ({device})" if by_producer else f"where its input is ({device})"
    words = f"Runs the statement {where}; check that nothing else in it is meant for another device."
    return _scoped(situation, device, words)


def gradient_scope(situation: Situation) -> Draft | None:
    """The gradients are computed in the scope of their forward ops."""
    device = alone(sorted(forward_devices(situation)))
    if device is None or trains_a_model(situation):
        return None
    words = f"Computes the gradients on {device}, beside their forward ops; check that all of them ran there."
    return _scoped(situation, device, words, _scope_of_tape(situation))


def forward_devices(situation: Situation) -> set[str]:
    """The devices that the line's gradients belong to, those too of the gradients that are there already."""
    names = ("forward_requested", "producer_forward_requested", "gradients_of")
    return {str(device) for name in names for device in flat(situation.evidence(name))}


def _scoped(situation: Situation, device: str, words: str, code: str | None = None) -> Draft | None:
    """The statement of the line under ``with tf.device(..)``, or under the one that stands before it.

    What goes on with its results on the default device comes along; None where that cannot.
    """
    stmt = next(
        (one for one in situation.statements if may_be_scoped(situation.source, one, situation.line)), None
    )
    if stmt is None or situation.framework != "tensorflow" or _under_strategy(situation.source, stmt):
        return None
    source, now = unfolded(situation.source, stmt)
    moved = now(stmt)
    named = code or own_expression(situation, situation.file, situation.source, stmt, device)
    tf, argument = tensorflow(source, moved), named or tf_device(source, moved, device)
    by_default, made = situation.finding.code == "default-device", _made_along(situation, stmt, device)
    if made is None or tf is None or argument is None or _scoped_alike(source, moved, tf, argument):
        return None
    if by_default and (taped_by_caller(situation, stmt) or _hands_to_function(situation, stmt)):
        return None
    along = _moved_along(situation, stmt, device)
    if along is None or (made and not by_default) or (source is not situation.source and (along[1:] or made)):
        return None
    change = Change(source)
    wrapped = [one for one in map(now, (*along, *made)) if not _scoped_alike(source, one, tf, argument)]
    _put_under(source, change, wrapped, f"{tf}.device({argument})")
    if made:
        words = f"Creates the variable, and runs the statement, on {device}: {_CHECK_VARIABLE}."
    elif len(wrapped) > 1:
        words = f"Runs the statement, and those that share its tensors, on {device}: check that they may."
    return situation.draft(words, change.text())


def _hands_to_function(situation: Situation, stmt: ast.stmt) -> bool:
    """Whether what the line makes goes to a traced function whose ops ask for no device: all would move."""
    by_producer = all(hop.cause.blames == "producer" for hop in situation.hops)
    ran = situation.ran.traced({called(node) for node in own_nodes(stmt)} - {""})
    return by_producer and any(not op.requested for op in ran)


def _put_under(source: Source, change: Change, stmts: list[ast.stmt], header: str) -> None:
    """Put statements into ``with`` blocks of this header, or into such a block right above them."""
    for group in in_blocks(source, stmts):
        above = source.before(group[0])
        items = above.items if isinstance(above, ast.With) else []
        if above is not None and [source.code(item.context_expr) for item in items] == [header]:
            for one in group:
                change.indent(one, source.unit(above))
        else:
            change.wrap(group[0], f"with {header}:", *group[1:])


def _moved_along(situation: Situation, stmt: ast.stmt, device: str) -> list[ast.stmt] | None:
    return moved_along(situation, stmt, device, lambda one: may_be_scoped(situation.source, one, one.lineno))


def _made_along(situation: Situation, stmt: ast.stmt, device: str) -> list[ast.stmt] | None:
    """What creates the variables of the statement that live on the default device, to be moved along.

    None where one lives elsewhere, or it is not certain which statement creates it: if a variable stays where
    it is, the statement cannot leave it without transfers in both directions.
    """
    source, ran = situation.source, situation.ran
    lines = situation.file, first_line(stmt), stmt.end_lineno or 0
    away = ran.homes(*lines) - {device}
    if not away:
        # Without that knowledge: what is assigned may live anywhere.
        unsure = not ran.known and any(called(node) in _ASSIGNS for node in own_nodes(stmt))
        return None if unsure or situation.fed_from_others(*lines[1:], device) else []
    default = default_of(situation.devices, "")
    places = ran.made_on(default)
    here = {f"{situation.file}:{line}" for line in range(lines[1], lines[2] + 1)}
    if any(op.site not in here for op in ran.used_at(default, device)):
        return None
    if away != {default} or len(places) != 1 or places[0][0] != situation.file:
        return None
    found = [one for one in source.statements_at(places[0][1]) if not is_compound(one)]
    made = found[0] if len(found) == 1 else None
    if made is None or made is stmt or not any(called(node) in _CREATES for node in own_nodes(made)):
        return None
    around = [one for one in source.ancestors(made) if isinstance(one, ast.With)]
    if any(devices_of(one) for one in around) or _under_strategy(source, made):
        return None
    return [made]


def may_be_scoped(source: Source, stmt: ast.stmt, line: int) -> bool:
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


def _under_strategy(source: Source, stmt: ast.stmt) -> bool:
    """Whether a distribution strategy decides about devices around the statement."""
    for parent in source.ancestors(stmt):
        if isinstance(parent, ast.With) and any(
            called(item.context_expr) == "scope" for item in parent.items
        ):
            return True
        if isinstance(parent, Function) and _run_by_strategy(source, parent.name):
            return True
    return False


def _run_by_strategy(source: Source, name: str) -> bool:
    return any(
        called(node) in ("run", "experimental_run_v2")
        and isinstance(node, ast.Call)
        and any(dotted(one).rpartition(".")[2] == name for one in node.args[:1])
        for node in ast.walk(source.tree)
    )


def _scoped_alike(source: Source, stmt: ast.stmt, tf: str, argument: str) -> bool:
    """Whether the nearest device scope around it is this one already, so that one more changes nothing."""
    for parent in source.ancestors(stmt):
        if isinstance(parent, ast.With):
            found = [
                code
                for item in parent.items
                if (code := source.code(item.context_expr)).startswith(f"{tf}.device(")
            ]
            if found:
                return found[-1] == f"{tf}.device({argument})" or _same_device(
                    source, stmt, devices_of(parent)[0], argument
                )
        if isinstance(parent, Function):
            return False
    return False


def _same_device(source: Source, at: ast.stmt, scope: ast.expr, argument: str) -> bool:
    """Whether two codes name one device as the text tells, ``"CPU:1"`` and ``"/CPU:1"`` alike."""
    new = parse_expression(argument)
    named = [tf_named(constant_of(source, one, at)) for one in (scope, new)]
    return named[0] is not None and named[0] == named[1]


def _scope_of_tape(situation: Situation) -> str | None:
    """What stands in ``tf.device(..)`` around the tape that the line asks for gradients."""
    source = situation.source
    for stmt in situation.statements:
        tapes = {
            dotted(node.func.value)
            for node in own_nodes(stmt)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and called(node) in ("gradient", "jacobian")
        }
        opened = [
            block
            for scope in source.scopes_of(stmt)[:1]
            for block in ast.walk(scope)
            if isinstance(block, ast.With)
            and any(
                item.optional_vars is not None and dotted(item.optional_vars) in tapes for item in block.items
            )
        ]
        for block in opened[:1] if len(opened) == 1 else []:
            around = [block, *(one for one in source.ancestors(block) if isinstance(one, ast.With))]
            found = [argument for one in around for argument in devices_of(one)]
            if found and not isinstance(found[0], ast.Constant) and _still_means(source, found[0], stmt):
                return source.code(found[0])
    return None


def _still_means(source: Source, argument: ast.expr, stmt: ast.stmt) -> bool:
    """Whether an expression of names has the same value at the statement, as far as the text tells."""
    if any(isinstance(node, ast.Call) for node in ast.walk(argument)):
        return False
    between = source.scopes_of(stmt)[0]
    return source.scopes_of(argument)[0] is between and bool(read_in(argument))
