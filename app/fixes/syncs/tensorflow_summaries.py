"""Summaries of TensorFlow ask whether to record, in Python: that takes record_if's condition each time."""

from __future__ import annotations

import ast
import re

from app.facts.devices import in_order
from app.fixes.code.names import called
from app.fixes.situation import Situation
from app.views.naming import some_of

_SUMMARIES = re.compile(r"tensorflow/python/(?:ops/summary_ops_v2|summary/\w+)\.py:|tensorboard/plugins/")
_CONDITIONS = frozenset({"record_if", "record_summaries_every_n_global_steps"})


def asks_whether_to_record(situation: Situation) -> bool:
    """Whether what a summary takes is no more than the answer to that: to write seldom, by count, is no fix.

    The condition may be another count, and what both let through may be nothing.
    """
    taken = [hop for hop in situation.hops if hop.kind == "pull"]
    return bool(taken) and all(hop.dtype == "bool" and _SUMMARIES.match(hop.via or "") for hop in taken)


def of_summary(situation: Situation) -> str | None:
    """What to do about the question; None where something else is taken."""
    if not asks_whether_to_record(situation):
        return None
    devices = some_of(in_order(hop.src for hop in situation.hops), "devices")
    conditions = [
        f"{file}:{node.lineno}"
        for file in dict.fromkeys([situation.file, *situation.files])
        if (source := situation.opened(file)) is not None
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and called(node) in _CONDITIONS
    ]
    apart = (
        'Write it in a scope of the host, `with tf.device("CPU:0"):`, and compute what it is given before:'
        f" in a scope of {devices} the answer is put there and taken back each time."
    )
    if not conditions:
        return f"Each summary asks in Python whether it is to be recorded. {apart}"
    return (
        "Each summary asks in Python whether it is to be recorded: of a condition that is a tensor Python"
        f" takes the value. Give record_if at {some_of(conditions, 'lines')} a callable that decides by a"
        f" number of Python's, such as the loop's own count. {apart}"
    )
