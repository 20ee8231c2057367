"""Metrics that a loop updates: Keras' reckon on the device with tensors, MXNet's take all to numpy."""

from __future__ import annotations

import ast
import re

from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import scope_for
from app.fixes.code.names import called, dotted, full_name
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.flow.accumulators import first_values
from app.fixes.flow.host_reads import takes
from app.fixes.situation import Draft, Situation

_KERAS = re.compile(r"(tensorflow(\.\w+)*\.|tf_)?keras\.metrics\.[A-Z]\w+")
_MXNET = re.compile(r"mxnet(\.gluon)?\.metric\.\w+")
_BY_MXNET = ("mxnet/metric.py:", "mxnet/gluon/metric.py:")
_UPDATES = frozenset({"update", "update_dict", "update_state"})
_WHOLE = frozenset({"numpy", "float", "item"})
"""Takes that leave a value as it is."""


def metric_updated(source: Source, call: ast.Call) -> str:
    """``keras`` or ``mxnet`` for a call that updates a metric of that framework's; '' for any other."""
    holder: ast.expr = call.func
    if isinstance(holder, ast.Attribute) and holder.attr in _UPDATES:
        holder = holder.value
    made = _made(source, holder) if dotted(holder) else []
    names = [full_name(source, one.func, one) if isinstance(one, ast.Call) else "" for one in made]
    if names and all(map(_KERAS.fullmatch, names)):
        return "keras"
    return "mxnet" if names and holder is not call.func and all(map(_MXNET.fullmatch, names)) else ""


def handed_to_metric(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``accuracy.update_state(y, p.numpy())``: the metric of Keras is handed the tensor."""
    source = situation.source
    call = stmt.value if isinstance(stmt, ast.Expr) else None
    if not isinstance(call, ast.Call) or metric_updated(source, call) != "keras":
        return None
    found = takes(situation, stmt)
    given = [*call.args, *(one.value for one in call.keywords)]
    alone = all(take.kind in _WHOLE and any(take.node is one for one in given) for take in found)
    if not found or not alone:
        return None
    scope = scope_for(source, stmt, situation.pulled_from)
    if scope is None or (scope and unfolded(source, stmt)[0] is not source):
        return None
    change = Change(source)
    for take in found:
        change.replace(take.node, source.code(take.value))
    if scope:  # else all of the tensor went to the default device
        change.wrap(stmt, f"with {scope}:")
    words = "Hands the metric the tensor itself: it reckons on the device, and nothing waits until its result"
    return situation.draft(f"{words} is read.", change.text())


def of_metric(situation: Situation) -> str | None:
    """What is said where a metric of MXNet's own takes the values, which it does in each update."""
    if not any((hop.via or "").startswith(_BY_MXNET) for hop in situation.hops):
        return None
    for stmt in situation.statements:
        for node in own_nodes(stmt):
            if isinstance(node, ast.Call) and called(node) in _UPDATES:
                return taken_by_mxnet(dotted(node.func) or called(node))
    return None


def taken_by_mxnet(update: str, site: str = "") -> str:
    """The advice for an update of a metric of MXNet, by its code; `site` if it stands elsewhere."""
    return (
        f"{update}{f' at {site}' if site else ''} takes values to numpy in each call, so Python waits there"
        " for the device: sum up on it what the metric counts and take that once at the end, or call it for"
        " several batches at once, as far as memory holds their outputs."
    )


def _made(source: Source, holder: ast.expr) -> list[ast.expr | None]:
    """All that the name, or the attribute of an object, is ever assigned."""
    stmt = source.statement_of(holder)
    if isinstance(holder, ast.Name):
        return first_values(source, holder.id, stmt) if stmt is not None else []
    path = dotted(holder)
    return [
        node.value
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign) and any(dotted(target) == path for target in node.targets)
    ]
