"""It was kept beside a variable, a table or an iterator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.cause import Cause
from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.transfer_words import Crossing
from app.fixes.paths.repeated_uploads import colocation
from app.judgments.severity import INFO
from app.views.naming import each, some_of

_BESIDE = ("colocated_with", "producer_colocated_with", "producer_placed_beside")


def summary(crossing: Crossing) -> str:
    """Which op is kept beside what."""
    known = next(filter(None, (crossing.evidence.get(name) for name in _BESIDE)), None)
    said = "{consumers} at {at} {is} kept beside {beside}, {way}"
    if crossing.by_producer:
        said = "{producer} at {at} runs beside {beside} on {src}, used on {dsts}"
    return crossing.say(said, beside=some_of(each(known), "ops"))


def because(facts: Facts) -> str:
    """An op runs where what it works on, or stands beside, lives."""
    for name in ("colocated_with", "producer_colocated_with", "producer_placed_beside"):
        if name in facts:
            asked = facts.told("requested" if name == "colocated_with" else "producer_requested", "devices")
            if "lives_on" in facts:
                home = facts.told("lives_on", "devices")
                wanted = f" Requested: {asked}." if asked else ""
                return (
                    f"It works on {facts.told(name, 'resources')} and runs where that lives, {home}.{wanted}"
                )
            wanted = f" Requested: {asked}." if asked and name == "colocated_with" else ""
            taker = facts.told("requested", "devices")
            if taker and name != "colocated_with":
                wanted = f" What takes it was requested on {taker}{facts.scope('scope')}."
            return f"It stands in one colocation group with {facts.told(name, 'ops')}.{wanted}"
    return ""


def advice(evidence: Mapping[str, Any]) -> str | None:
    """Of an input pipeline, whose elements may come to another device; None for what has its place."""
    if "producer_colocated_with" not in evidence:
        return None
    return "Let the input pipeline deliver to the device that uses its elements."


CAUSE = Cause(
    code="colocation",
    severity=INFO,
    meaning="It was kept beside a variable, a table or an iterator.",
    summary=summary,
    because=because,
    advice=advice,
    act=lambda hop: (hop.src, hop.dst, hop.cause.blames),
    fix=colocation,
)
