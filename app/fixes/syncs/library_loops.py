"""What MXNet's own training loops take each batch: which part of them does, and how it can do so seldom."""

from __future__ import annotations

import ast

from app.facts.devices import in_order
from app.fixes.code.names import called, keyword
from app.fixes.code.parsed_source import own_nodes
from app.fixes.situation import Situation
from app.views.naming import some_of

_MODULE = "mxnet/module/base_module.py:fit"
_ESTIMATOR = "mxnet/gluon/contrib/estimator/estimator.py:fit"
_COPIES = frozenset({"_copyto", "Python"})
_CUSTOMARY = "which is customary, but has each batch wait for the devices."


def of_fit(situation: Situation) -> str | None:
    """What is said of values that `fit` takes: nothing in it does but its metrics, and a monitor."""
    through = {hop.via for hop in situation.hops if hop.kind == "pull"}
    calls = [
        node
        for stmt in situation.statements
        for node in own_nodes(stmt)
        if isinstance(node, ast.Call) and called(node) == "fit" and isinstance(node.func, ast.Attribute)
    ]
    if len(calls) != 1 or len(through) != 1:
        return None
    call, via = calls[0], through.pop()
    if via == _ESTIMATOR:
        owner = situation.source.code(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        return (
            f"Of each batch its MetricHandler takes {_taken(situation)} to numpy, {_CUSTOMARY} To wait"
            " seldom, put one of your own into event_handlers: derived from MetricHandler, given"
            f" {owner}.train_metrics, with a batch_end() that goes on only every so many batches."
        )
    if via != _MODULE:
        return None
    metric = keyword(call, "eval_metric")
    named = (
        f"eval_metric={situation.source.code(metric.value)}" if metric else "eval_metric, 'acc' by default"
    )
    monitor = keyword(call, "monitor")
    watched = monitor is not None and not isinstance(monitor.value, ast.Constant)
    also = " Its monitor waits in each batch that it watches: give it a larger interval." if watched else ""
    return (
        f"Its metric ({named}) takes the outputs of each batch to numpy, {_CUSTOMARY}{also} To wait seldom,"
        " give fit a metric of your own, derived from that one's class, with an update() that goes on only"
        " every so many batches."
    )


def _taken(situation: Situation) -> str:
    """What the metrics of an Estimator take, as far as the run shows it: which those are the code may say."""
    pulls = [hop for hop in situation.hops if hop.kind == "pull"]
    sums = [hop for hop in pulls if "asscalar" in hop.consumers]
    copied = [hop for hop in pulls if hop not in sums and hop.producer_op in _COPIES]
    told = ["the outputs"] if len(pulls) > len(sums) + len(copied) else []
    if copied:  # with the batch's data
        devices = some_of(in_order(hop.src for hop in copied), "devices")
        told.append(f"the labels (sent to {devices} before)")
    if sums:
        told.append("sums such as the loss's")
    return some_of(told, "values") or "values"
