"""Devices exchange or sum their tensors."""

from __future__ import annotations

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.wording.exchanges import exchange, exchanged
from app.diagnosis.wording.transfer_words import Crossing
from app.judgments.severity import INFO


def summary(crossing: Crossing) -> str:
    """What is exchanged, and how; of a kvstore also that it hands it out."""
    if crossing.first.op.endswith("pull") and crossing.consumers == crossing.first.op:
        return exchanged(crossing, "At {at} {algorithm} copies {exchanged} to the devices, {way}")
    return exchanged(crossing, "Devices reduce their tensors at {at} by {algorithm}{summed}, {way}")


CAUSE = Cause(
    code="collective",
    severity=INFO,
    meaning="Devices exchange or sum their tensors.",
    summary=summary,
    because=exchange,
    act=of_line,
)
