"""Functions of libraries that read values or wait by themselves: what can be done about some of them."""

from __future__ import annotations

import ast
import re

from app.diagnosis.causes.host_sync.library_functions import Evidence
from app.facts.devices import in_order
from app.fixes.code.device_notation import arrays
from app.fixes.code.names import called, calls_of, dotted, full_name, keyword
from app.fixes.flow.value_roles import METRIC_UPDATES
from app.fixes.situation import Situation
from app.views.naming import some_of

_SUMMARIES = re.compile(r"tensorflow/python/(?:ops/summary_ops_v2|summary/\w+)\.py:|tensorboard/plugins/")
_METRICS = ("mxnet/metric.py:", "mxnet/gluon/metric.py:")
_CLIPS = "mxnet.gluon.utils.clip_global_norm"
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
"""MXNet's own training loops: nothing in them reads values but their metrics, and a monitor."""
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


def asks_whether_to_record(situation: Situation) -> bool:
    """Whether what a summary of TensorFlow's reads is only record_if's condition: to write seldom is no fix.

    The condition may be another count, and what both let through may be nothing.
    """
    reads = situation.reads
    return bool(reads) and all(hop.dtype == "bool" and _SUMMARIES.match(hop.via or "") for hop in reads)


def of_library(situation: Situation) -> str | None:
    """What to do where such a function reads the values, or waits; None where it is none of these."""
    if asks_whether_to_record(situation):
        devices = some_of(in_order(hop.src for hop in situation.hops), "devices")
        return (
            "Each summary asks in Python whether it is to be recorded. Give record_if, if it is given a"
            " tensor, a callable that decides by a number of Python's, such as the loop's own count. Write it"
            ' in a scope of the host, `with tf.device("CPU:0"):`, and compute what it is given before: in a'
            f" scope of {devices} the answer is put there and taken back each time."
        )
    inside = situation.evidence(Evidence).inside or ()
    stmt = next(iter(situation.statements), situation.source.tree)
    for function, words in _FUNCTIONS.items():
        if inside and all(one.endswith(function) for one in inside):
            return words.format(nd=arrays(situation.source, stmt) or "mx.nd")
    return None


def of_library_loop(situation: Situation) -> str | None:
    """What to do where a training loop, a metric or the clipping of MXNet reads the values; else None."""
    through = {hop.via or "" for hop in situation.reads}
    if len(through) == 1 and (words := _LOOPS.get(next(iter(through)))) is not None:
        return words
    calls = [call for stmt in situation.statements for call in calls_of(stmt)]
    if any((hop.via or "").startswith(_METRICS) for hop in situation.hops):
        for call in calls:
            if called(call) in METRIC_UPDATES:
                return taken_by_mxnet(dotted(call.func) or called(call))
    return _of_clipping(situation, calls)


def taken_by_mxnet(update: str, site: str = "") -> str:
    """The advice for an update of a metric of MXNet, by its code; `site` if it stands elsewhere."""
    return (
        f"{update}{f' at {site}' if site else ''} takes values to numpy in each call, so Python waits there"
        " for the device: sum up on it what the metric counts and take that once at the end, or call it for"
        " several batches at once, as far as memory holds their outputs."
    )


def _of_clipping(situation: Situation, calls: list[ast.Call]) -> str | None:
    """To leave out the check of the norm, where the line's one clipping reads all the values for it."""
    through = {(hop.via or "").startswith("mxnet/gluon/utils.py:") for hop in situation.hops}
    clips = [call for call in calls if full_name(situation.source, call.func, call) == _CLIPS]
    if situation.framework != "mxnet" or through != {True} or len(clips) != 1:
        return None
    checks = keyword(clips[0], "check_isfinite")
    if checks is not None and isinstance(checks.value, ast.Constant) and not checks.value.value:
        return None
    return (
        "clip_global_norm takes the norm to check it and to return it as a number: with check_isfinite=False"
        " it gives it as an NDArray, and nothing waits; NaN is no longer warned of. Take the number then only"
        " where it is needed, as seldom as that allows."
    )
