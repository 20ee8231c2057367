"""The code named both devices."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.transfer_words import Crossing
from app.fixes.contexts.repeated_copies import made_there
from app.judgments.severity import INFO
from app.views.naming import one


def summary(crossing: Crossing) -> str:
    """The copy that was called, or both ends and who placed them."""
    if crossing.evidence.get("call"):
        return crossing.say("The code copies a tensor at {at} by {call}, {way}")
    if not crossing.evidence.get("placed_by"):
        return crossing.say(
            "The code puts producer and consumer ({consumers} at {at}) on different devices, {way}"
        )
    libraries = one(crossing.evidence["placed_by"])
    return crossing.say(
        "{placed_by} {put} producer and consumer ({consumers} at {at}) on different devices, {way}",
        put="put" if " and " in libraries else "puts",
    )


def because(facts: Facts) -> str:
    """Both ends were asked for, by scopes or by the call."""
    if "call" in facts:
        return ""  # the summary names it
    asked = facts.told("producer_requested", "devices"), facts.told("requested", "devices")
    if "result_on" in facts:
        lies = facts.told("result_on", "devices")
        return f"Requested: {asked[1]}{facts.scope('scope')}; a function made what is taken there on {lies}."
    if "placed_by_call" in facts:
        return _placed_by_call(facts)
    if not all(asked):
        return ""
    scopes = facts.scope("producer_scope"), facts.scope("scope")
    return f"Requested: {asked[0]}{scopes[0]} for the producer, {asked[1]}{scopes[1]} for the consumer."


def _placed_by_call(facts: Facts) -> str:
    named, by_call = facts.lists("named")[0], facts.each("placed_by_call")
    ends = []
    for role, device, scope in zip(("producer", "consumer"), named, ("producer_scope", "scope"), strict=True):
        how = "the scope that its function is called in is" if role in by_call else "requested is"
        ends.append(f"for the {role} {how} {device}{facts.scope(scope)}")
    told = ", ".join(ends)
    return f"{told[0].upper()}{told[1:]}."


CAUSE = Cause(
    code="explicit",
    severity=INFO,
    meaning="The code named both devices.",
    summary=summary,
    because=because,
    fix=made_there,
)
