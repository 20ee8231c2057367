"""What to do about a value that Python takes, by what its line does with it: no more than that shows."""

from __future__ import annotations

import ast
import itertools
import re

from app.diagnosis.causes.host_sync.library_functions import Evidence
from app.facts.devices import in_order
from app.fixes.clocks.measurements import clock_after, only_waits
from app.fixes.code.device_notation import arrays, tensorflow
from app.fixes.code.names import called, calls_of, dotted, full_name, keyword
from app.fixes.flow.value_flow import uses
from app.fixes.flow.value_roles import METRIC_UPDATES, Role, Use
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


EITHER = (
    "Take the value every so many steps, or once at the end, if it is only looked at; where the program goes"
    " on with it, compute with it on the device, or take all that a step needs in one fetch."
)
"""For values of which it is not known what they are taken for."""
LOOKED_AT = "Take the value every so many steps, or keep it on the device and take it once at the end."
_SENTENCES = {
    Role.ENDS_LOOP: "It decides at {site} whether the loop goes on: test every so many rounds only if further"
    " rounds do no harm{loop}.",
    Role.FAILS: "It is checked at {site} in each step: check every so many steps if those until then do no"
    " harm.",
    Role.DECIDES: "The `if` at {site} needs it in each step. Where it decides what is computed, choose"
    " between the new and the old values on the device with {where}, or limit gradients with {clip}; ask"
    " seldom only where what it guards may wait.",
    Role.ENVIRONMENT: "{by} at {site} needs it in each step: take all of a step's values in one fetch, those"
    " of several environments together.",
    Role.GOES_BACK: "{by} at {site} goes on with it: hand the tensor itself on there; where that takes only"
    " numbers, compute with a mask on the device (a comparison, {where}).",
    Role.COMES_BACK: "What is made of it goes back by {by} at {site}: make that on the device, with the"
    " framework's ops; where Python has to make it, take all that it needs of a step in one fetch.",
    Role.METRIC: "{by} at {site} is of a metric of Keras, which reckons with tensors too: hand it the"
    " tensor itself, and nothing waits until its result is read.",
    Role.KEPT: "It is kept in {by} at {site}, which other code reads: take all that this needs of a"
    " step in one fetch, or, if it is only looked at, once at the end.",
}


def line_advice(situation: Situation, said: str) -> str | None:
    """What to do in place of `said`, the advice for any value that is taken; None where nothing fits."""
    if (found := _for_timing(situation) or of_library(situation)) is not None:
        return found
    return _by_use(situation) if said == EITHER else said


def _for_timing(situation: Situation) -> str | None:
    """What to do about a wait that a measurement needs; None where none is seen to."""
    clock, waits = clock_after(situation), only_waits(situation)
    if clock is None or not (waits or (clock.each and not clock.own)):
        return None
    said = (
        f"{clock.name} at {clock.site} takes the time after it: what is not waited for until then would not"
        " be in that time."
    )
    if waits:
        return f"{said} Wait only while you measure, and time several steps between two waits."
    return f"{said} Take the value every so many steps, and there the time of all of them together."


def _by_use(situation: Situation) -> str:
    if (known := of_library_loop(situation)) is not None:
        return known
    found = sorted(uses(situation), key=lambda use: list(Role).index(use.role))
    if all(use.role in (Role.KEPT, Role.UNKNOWN) for use in found) and (said := _of_several(situation)):
        return said
    return _of_uses(situation, found) if found else LOOKED_AT


def _of_several(situation: Situation) -> str:
    """Of the rows of an array, or a sum over variables: values that one step takes one by one; '' for one."""
    in_step = sum(hop.each or 0 for hop in situation.hops if hop.kind == "pull")
    devices = in_order({hop.src for hop in situation.hops})
    if in_step < 2 * len(devices) or not situation.hops:
        return ""
    return (
        f"Each step reads {in_step:.0f} values here, one by one: join them on"
        f" {some_of(devices, 'devices')}, or add them up there, and read the result once."
    )


def _of_uses(situation: Situation, found: list[Use]) -> str:
    first, source = found[0], situation.source
    if first.role in (Role.KEPT, Role.UNKNOWN):
        devices = {hop.src for hop in situation.hops}
        for use, hop in itertools.product(found, situation.others):
            sent = hop.kind == "upload" and hop.count != 0 and hop.dst in devices
            if sent and hop.site == use.site != situation.finding.site:
                return (
                    f"It is sent back to {hop.dst} at {use.site}: hand the tensor itself on there, or compute"
                    " with it on the device."
                )
    stmt = next(iter(situation.statements), source.tree)
    # How the file writes a choice by values, a limit of gradients, and a loop on the device.
    if situation.framework == "mxnet":
        if first.role == Role.METRIC:
            return taken_by_mxnet(first.by, first.site)
        where, loop = f"{arrays(source, stmt) or 'mx.nd'}.where", ""
        clip = "gluon.utils.clip_global_norm(.., check_isfinite=False)"
    else:
        tf = tensorflow(source, stmt) or "tf"
        where, clip = f"{tf}.where", f"{tf}.clip_by_global_norm"
        loop = f", or make the whole loop a {tf}.while_loop in one {tf}.function"
    words = _SENTENCES.get(first.role, EITHER)
    return words.format(site=first.site, by=first.by, where=where, clip=clip, loop=loop)
