"""What is said of what the evidence does not decide."""

from __future__ import annotations

from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.transfer_words import UNDECIDED, Crossing
from app.views.naming import one


def summary(crossing: Crossing) -> str:
    """What crosses, and that nothing tells why."""
    if crossing.first.kind != "arg":
        return crossing.say(UNDECIDED)
    return crossing.say(
        "An argument made on {src} by {made_by} is used on {dst} by {consumers} at {at}",
        made_by=one(crossing.evidence.get("argument_made_by")),
    )


def because(facts: Facts) -> str:
    """What is known where that does not decide."""
    asked = facts.told("producer_requested", "devices"), facts.told("requested", "devices")
    told = " and ".join(
        f"{device} for the {role}"
        for device, role in zip(asked, ("producer", "consumer"), strict=True)
        if device
    )
    return f"Known: requested {told}." if told else ""
