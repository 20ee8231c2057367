"""Metrics that a loop updates: Keras' reckon on the device with tensors, MXNet's take all to numpy."""

from __future__ import annotations

import ast
import re

from app.fixes.code.names import assigned, called, dotted, full_name
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.situation import Situation

_KERAS = re.compile(r"(tensorflow(\.\w+)*\.|tf_)?keras\.metrics\.[A-Z]\w+")
_MXNET = re.compile(r"mxnet(\.gluon)?\.metric\.\w+")
_BY_MXNET = ("mxnet/metric.py:", "mxnet/gluon/metric.py:")
_UPDATES = frozenset({"update", "update_dict", "update_state"})


def metric_updated(source: Source, call: ast.Call) -> str:
    """``keras`` or ``mxnet`` for a call that updates a metric of that framework's; '' for any other."""
    holder: ast.expr = call.func
    if isinstance(holder, ast.Attribute) and holder.attr in _UPDATES:
        holder = holder.value
    path = dotted(holder)
    stmts = ast.walk(source.tree) if path else ()
    made = [value for stmt in stmts for target, value in assigned(stmt) if dotted(target) == path]
    names = [full_name(source, one.func, one) if isinstance(one, ast.Call) else "" for one in made]
    if names and all(map(_KERAS.fullmatch, names)):
        return "keras"
    return "mxnet" if names and holder is not call.func and all(map(_MXNET.fullmatch, names)) else ""


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
