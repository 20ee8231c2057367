"""Summaries of TensorFlow ask whether to record, in Python: that takes record_if's condition each time."""

from __future__ import annotations

import re

from app.facts.devices import in_order
from app.fixes.situation import Situation
from app.views.naming import some_of

_SUMMARIES = re.compile(r"tensorflow/python/(?:ops/summary_ops_v2|summary/\w+)\.py:|tensorboard/plugins/")


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
    return (
        "Each summary asks in Python whether it is to be recorded. Give record_if, if it is given a tensor, a"
        " callable that decides by a number of Python's, such as the loop's own count. Write it in a scope of"
        ' the host, `with tf.device("CPU:0"):`, and compute what it is given before: in a scope of'
        f" {devices} the answer is put there and taken back each time."
    )
