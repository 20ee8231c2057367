"""The code named both devices."""

from __future__ import annotations

import dataclasses

from app.diagnosis.cause import Cause
from app.diagnosis.causes.explicit.example import EXAMPLE
from app.diagnosis.rules.placements import both_named, call_of, made_by_code
from app.diagnosis.wording.scope_openers import consumer_scope, library, producer_scope
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import is_host
from app.facts.transfers.transfer import Transfer
from app.judgments.evidence import Known, TransferEvidence
from app.judgments.severity import INFO
from app.views.naming import one, told


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of both ends where the code wants them."""

    named: Known[list[str]] = None
    """Devices of the producer and the consumer."""
    placed_by: Known[str] = None
    """Libraries whose scopes these are, where they are not the code's."""
    result_on: Known[str] = None
    """Device that made it, in a function."""


def called_copy(transfer: Transfer) -> Evidence | None:
    """The code called the copy itself."""
    call = call_of(transfer)
    return Evidence(call=call) if call and transfer.kind != "upload" else None


def explicit(transfer: Transfer) -> Evidence | None:
    """The code named both devices, both were given, and they differ."""
    if not both_named(transfer):
        return None
    return Evidence(named=[transfer.producer_requested, transfer.requested], placed_by=_libraries(transfer))


def takes_a_result(transfer: Transfer) -> Evidence | None:
    """The code named the consumer's device, and what it takes was made by a function's ops elsewhere.

    Of what a function put on the default device by default that op's own place is the question; but for
    the host: who asks for that wants the value there.
    """
    if not transfer.facts.get("made_by_function") or transfer.producer_requested:
        return None
    by_default = transfer.src == transfer.context.default(transfer.src) and not is_host(transfer.dst)
    if transfer.requested != transfer.dst or transfer.src == transfer.dst or by_default:
        return None
    return Evidence(result_on=transfer.src, placed_by=_libraries(transfer))


def called_elsewhere(transfer: Transfer) -> Evidence | None:
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
    return Evidence(named=[producer, consumer], placed_by_call=roles, placed_by=_libraries(transfer))


def _libraries(transfer: Transfer) -> str | None:
    names = ("producer_scope_opener", "scope_opener")
    found = [library(str(opener)) for name in names if (opener := transfer.facts.get(name))]
    return " and ".join(dict.fromkeys(found)) or None


def summary(words: TransferWords, evidence: Evidence) -> str:
    """The copy that was called, or both ends and who placed them."""
    if evidence.call:
        return words.say("The code copies a tensor at {at} by {call}, {way}")
    if not evidence.placed_by:
        return words.say(
            "The code puts producer and consumer ({consumers} at {at}) on different devices, {way}"
        )
    libraries = one(evidence.placed_by)
    return words.say(
        "{placed_by} {put} producer and consumer ({consumers} at {at}) on different devices, {way}",
        put="put" if " and " in libraries else "puts",
    )


def because(evidence: Evidence) -> str:
    """Both ends were asked for, by scopes or by the call."""
    if evidence.call:
        return ""  # the summary names it
    asked = told(evidence.producer_requested, "devices"), told(evidence.requested, "devices")
    if evidence.result_on:
        lies = told(evidence.result_on, "devices")
        return (
            f"Requested: {asked[1]}{consumer_scope(evidence)}; a function made what is taken there on {lies}."
        )
    if not all(asked):
        return ""
    scopes = producer_scope(evidence), consumer_scope(evidence)
    return f"Requested: {asked[0]}{scopes[0]} for the producer, {asked[1]}{scopes[1]} for the consumer."


CAUSE = Cause(
    code="explicit",
    severity=INFO,
    evidence=Evidence,
    meaning="The code named both devices.",
    example=EXAMPLE,
    summary=summary,
    because=because,
)
