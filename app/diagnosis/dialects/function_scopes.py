"""Ops of TensorFlow's own that tensors pass on their way out of a function."""

from __future__ import annotations

from app.fixes.scopes.framework_placement import has_strategy, trains_a_model
from app.fixes.situation import Situation
from app.judgments.evidence import TransferEvidence
from app.views.naming import each

BECAUSE = (
    "What a function returns passes an Identity of TensorFlow's own, on the device of the scope that the"
    " function is called in, the default one where it is called in none."
)
_OF_OWN_OP = (
    "Call the function inside the device scope of {start}: TensorFlow hands on what a function of custom"
    " gradients, such as tf.recompute_grad's, returns by an Identity of its own, on the device of the scope"
    " around the call."
)
_OF_RESULT = (
    "Call the function inside the device scope of {start}: what a function returns passes the device of the"
    " scope that it is called in, the default one where it is called in none. Ops of it that no scope asks"
    " for go there too."
)


def advice(evidence: TransferEvidence, start: str) -> str:
    """To call it in the scope of `start`, or of the end that nobody chose by default; '' for other ops."""
    if evidence.own_op:
        by_default = [*each(evidence.default_device), *each(evidence.producer_default_device)]
        ends = [*each(evidence.src), *each(evidence.dst)]
        start = next((device for device in ends if device not in by_default), start)
    if evidence.result_of_a_call:
        return _OF_RESULT.format(start=start)
    return _OF_OWN_OP.format(start=start) if evidence.own_op else ""


def placed_by_strategy(situation: Situation) -> bool:
    """Whether a strategy calls the function for each of its devices, or places what Keras trains."""
    if not has_strategy(situation):
        return False
    return bool(situation.evidence(TransferEvidence).result_of_a_call) or trains_a_model(situation)


def line_advice(situation: Situation, said: str) -> str | None:
    """The advice, but for what a strategy places: that is to stay where it is."""
    return None if placed_by_strategy(situation) else said
