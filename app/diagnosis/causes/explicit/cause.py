"""The code named both devices."""

from __future__ import annotations

from typing import Any

from app.diagnosis.cause import Cause
from app.diagnosis.rules.placements import both_named, made_by_code
from app.diagnosis.rules.repeated_copies import call_of
from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.scope_openers import library
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import is_host
from app.facts.transfers.transfer import Transfer
from app.judgments.severity import INFO
from app.views.naming import one


def called_copy(transfer: Transfer) -> dict[str, Any] | None:
    """The code called the copy itself."""
    return None if transfer.kind == "upload" else call_of(transfer) or None


def explicit(transfer: Transfer) -> dict[str, Any] | None:
    """The code named both devices, both were given, and they differ."""
    if not both_named(transfer):
        return None
    return {"named": [transfer.producer_requested, transfer.requested]} | _by_libraries(transfer)


def takes_a_result(transfer: Transfer) -> dict[str, Any] | None:
    """The code named the consumer's device, and what it takes was made by a function's ops elsewhere.

    Of what a function put on the default device by default that op's own place is the question; but for
    the host: who asks for that wants the value there.
    """
    if not transfer.facts.get("made_by_function") or transfer.producer_requested:
        return None
    by_default = transfer.src == transfer.context.default(transfer.src) and not is_host(transfer.dst)
    if transfer.requested != transfer.dst or transfer.src == transfer.dst or by_default:
        return None
    return {"result_on": transfer.src} | _by_libraries(transfer)


def called_elsewhere(transfer: Transfer) -> dict[str, Any] | None:
    """One end, or both, were placed by the scope that their function was called in."""
    called = transfer.producer_called_on, transfer.called_on
    producer, consumer = transfer.producer_requested or called[0], transfer.requested or called[1]
    if transfer.fields.get("forward_loc") or transfer.src == transfer.dst or not any(called):
        return None
    if (producer, consumer) != (transfer.src, transfer.dst):
        return None
    if (called[1] and not transfer.made_by_code) or (called[0] and not made_by_code(transfer)):
        return None
    roles = [role for role, device in zip(("producer", "consumer"), called, strict=True) if device]
    return {"named": [producer, consumer], "placed_by_call": roles} | _by_libraries(transfer)


def _by_libraries(transfer: Transfer) -> dict[str, Any]:
    """Which library opened the scopes, where it was not the code."""
    names = ("producer_scope_opener", "scope_opener")
    found = [library(str(opener)) for name in names if (opener := transfer.facts.get(name))]
    return {"placed_by": " and ".join(dict.fromkeys(found))} if found else {}


def summary(words: TransferWords) -> str:
    """The copy that was called, or both ends and who placed them."""
    if words.evidence.get("call"):
        return words.say("The code copies a tensor at {at} by {call}, {way}")
    if not words.evidence.get("placed_by"):
        return words.say(
            "The code puts producer and consumer ({consumers} at {at}) on different devices, {way}"
        )
    libraries = one(words.evidence["placed_by"])
    return words.say(
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
    if not all(asked):
        return ""
    scopes = facts.scope("producer_scope"), facts.scope("scope")
    return f"Requested: {asked[0]}{scopes[0]} for the producer, {asked[1]}{scopes[1]} for the consumer."


CAUSE = Cause(
    code="explicit",
    severity=INFO,
    meaning="The code named both devices.",
    summary=summary,
    because=because,
)
