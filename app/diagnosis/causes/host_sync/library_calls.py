"""Functions of libraries that take values or wait by themselves: what can be done about some of them."""

from __future__ import annotations

from app.diagnosis.causes.host_sync.evidence import Evidence
from app.diagnosis.causes.host_sync.tensorflow_summaries import of_summary
from app.fixes.code.device_notation import arrays
from app.fixes.situation import Situation

_CUSTOMARY = "which is customary, but has each batch wait for the devices. To wait seldom,"
_LOOPS = {
    "mxnet/module/base_module.py:fit": "Its metric, eval_metric, takes the outputs of each batch to numpy,"
    f" {_CUSTOMARY} give fit a metric of your own, derived from that one's class, with an update() that goes"
    " on only every so many batches; a monitor waits too, in each batch that its interval has it watch.",
    "mxnet/gluon/contrib/estimator/estimator.py:fit": "Of each batch its MetricHandler takes outputs, labels"
    f" and losses to numpy, {_CUSTOMARY} put one of your own into event_handlers: derived from"
    " MetricHandler, given the estimator's train_metrics, with a batch_end() that goes on only every so many"
    " batches.",
}
"""MXNet's own training loops."""
_FUNCTIONS = {
    "(mxnet/monitor.py)": "The monitor waits for all arrays in each batch that it watches, and takes its"
    " statistics to Python: give it a larger interval, the first argument of Monitor. In the other batches"
    " tic() and toc() wait for nothing.",
    "while_loop (mxnet/ndarray/contrib.py)": "Outside of a hybridized block while_loop takes its condition as"
    " a number before each turn, and waits for it. Make a fixed number of turns instead, each on the device:"
    " compute the new states, and choose by {nd}.where, by the condition in their shape, between them and"
    " the old ones.",
    "cond (mxnet/ndarray/contrib.py)": "Outside of a hybridized block cond takes its condition as a number,"
    " and waits for it. Where both results can be computed, choose between them on the device:"
    " {nd}.where(condition, then, else).",
}
"""Functions of MXNet's, by how the evidence of what waits inside of them ends."""


def of_library(situation: Situation) -> str | None:
    """What to do where such a function takes the values, or waits; None where it is none of these."""
    if (said := of_summary(situation)) is not None:
        return said
    inside = situation.evidence(Evidence).inside or ()
    stmt = next(iter(situation.statements), situation.source.tree)
    for function, words in _FUNCTIONS.items():
        if inside and all(one.endswith(function) for one in inside):
            return words.format(nd=arrays(situation.source, stmt) or "mx.nd")
    return None


def of_fit(situation: Situation) -> str | None:
    """What is said of values that `fit` takes: nothing in it does but its metrics, and a monitor."""
    through = {hop.via or "" for hop in situation.hops if hop.kind == "pull"}
    return _LOOPS.get(through.pop()) if len(through) == 1 else None
