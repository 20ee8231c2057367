"""Ops on the wrong device: the statement goes into the device scope that it lacks."""

from __future__ import annotations

import ast

from app.fixes.code.change import Change
from app.fixes.code.device_constants import constant_of
from app.fixes.code.device_notation import alone, blocks_around, devices_of, tf_named
from app.fixes.code.names import called
from app.fixes.code.parsed_source import Source, first_line, is_compound, own_nodes
from app.fixes.flow.callers import taped_by_caller
from app.fixes.flow.dependents import moved_along
from app.fixes.scopes.device_expressions import device_header, put_under
from app.fixes.scopes.distribution_strategies import has_strategy
from app.fixes.scopes.keras_fit import of_a_layer, trains_a_model
from app.fixes.situation import Draft, Situation
from app.views.naming import flat
from runners.python_source import parse_expression

_ASSIGNS = frozenset({"assign", "assign_add", "assign_sub", "scatter_update", "scatter_nd_update"})


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
    return _scoped(situation, device, words)


def forward_devices(situation: Situation) -> set[str]:
    """The devices that the line's gradients belong to, those too of the gradients that are there already."""
    names = ("forward_requested", "producer_forward_requested", "gradients_of")
    return {str(device) for name in names for device in flat(situation.evidence(name))}


def _scoped(situation: Situation, device: str, words: str) -> Draft | None:
    """The statement of the line under ``with tf.device(..)``, or under the one that stands before it.

    What goes on with its results on the default device comes along; None where that cannot.
    """
    stmt = next(
        (one for one in situation.statements if may_be_scoped(situation.source, one, situation.line)), None
    )
    if stmt is None or situation.framework != "tensorflow" or has_strategy(situation):
        return None
    source, by_default = situation.source, situation.finding.code == "default-device"
    if not _may_leave(situation, stmt, device) or (by_default and _moves_more(situation, stmt)):
        return None
    header = device_header(situation, situation.file, source, stmt, device)
    along = moved_along(situation, stmt, device, lambda one: may_be_scoped(source, one, one.lineno))
    if header is None or along is None or _scoped_alike(source, stmt, header):
        return None
    wrapped = [one for one in along if not _scoped_alike(source, one, header)]
    if len(wrapped) > 1:
        words = f"Runs the statement, and those that share its tensors, on {device}: check that they may."
    change = Change(source)
    put_under(source, change, wrapped, header)
    return situation.draft(words, change.text())


def _moves_more(situation: Situation, stmt: ast.stmt) -> bool:
    """Whether gradients of the statement would stay behind, or all that a function does would come along."""
    by_producer = all(hop.cause.blames == "producer" for hop in situation.hops)
    called_there = situation.ran.traced({called(node) for node in own_nodes(stmt)} - {""})
    hands_on = by_producer and any(not op.requested for op in called_there)
    return hands_on or taped_by_caller(situation, stmt)


def _may_leave(situation: Situation, stmt: ast.stmt, device: str) -> bool:
    """Whether no variable of the statement lives elsewhere, nor much comes from there: that would cross."""
    ran, lines = situation.ran, (first_line(stmt), stmt.end_lineno or 0)
    # Without that knowledge: what is assigned may live anywhere.
    unsure = not ran.known and any(called(node) in _ASSIGNS for node in own_nodes(stmt))
    away = ran.homes(situation.file, *lines) - {device}
    return not (away or unsure or situation.fed_from_others(*lines, device))


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
