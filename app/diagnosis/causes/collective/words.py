"""What is said of devices that exchange their tensors."""

from __future__ import annotations

from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.exchanges import exchange, exchanged
from app.diagnosis.wording.transfer_words import Crossing


def summary(crossing: Crossing) -> str:
    """What is exchanged, and how; of a kvstore also that it hands it out."""
    if crossing.first.op.endswith("pull") and crossing.consumers == crossing.first.op:
        return exchanged(crossing, "At {at} {algorithm} copies {exchanged} to the devices, {way}")
    return exchanged(crossing, "Devices reduce their tensors at {at} by {algorithm}{summed}, {way}")


def because(facts: Facts) -> str:
    """Among which devices something is exchanged, and how."""
    return exchange(facts)
