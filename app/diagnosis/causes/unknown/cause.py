"""The evidence does not decide."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.transfer_words import UNDECIDED, TransferWords
from app.judgments.severity import INFO


def summary(words: TransferWords) -> str:
    """What crosses, and that nothing tells why."""
    argument = "An argument made on {src} by {argument_made_by} is used on {dst} by {consumers} at {at}"
    return words.say(argument if words.first.kind == "arg" else UNDECIDED)


def because(facts: Facts) -> str:
    """What is known where that does not decide."""
    asked = facts.told("producer_requested", "devices"), facts.told("requested", "devices")
    told = " and ".join(
        f"{device} for the {role}"
        for device, role in zip(asked, ("producer", "consumer"), strict=True)
        if device
    )
    return f"Known: requested {told}." if told else ""


CAUSE = Cause(
    code="unknown", severity=INFO, meaning="The evidence does not decide.", summary=summary, because=because
)
