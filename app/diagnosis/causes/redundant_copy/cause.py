"""A copy to the device where the tensor already is, or of the same tensor again and again."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence

from app.diagnosis.cause import Cause
from app.diagnosis.causes.redundant_copy.example import EXAMPLE
from app.diagnosis.rules.placements import call_of, copied_again, runs_away_from_forward_op, sent_again
from app.diagnosis.wording.scope_openers import consumer_scope, producer_scope
from app.diagnosis.wording.transfer_words import TransferWords, destination
from app.facts.devices import is_host
from app.facts.syncs import Sync
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import HANDED_OVER_ON_HOST, Transfer
from app.fixes.code.device_notation import constant_of, context_attribute
from app.fixes.code.names import called, calls_of, dotted
from app.fixes.situation import Draft, Situation
from app.judgments.evidence import Known, TransferEvidence
from app.judgments.severity import INFO, WARNING
from app.views.naming import each, told


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of copies of what is there already."""

    same_device: Known[str] = None
    copied_before: Known[str] = None
    """Device that has the copy already."""
    sent_again: Known[str] = None
    """How often one tensor is sent."""
    sent_from: list[str] | None = None
    """Lines that make it."""


def redundant_copy(transfer: Transfer) -> Evidence | None:
    """A copy to where the tensor is already, or of a tensor that was copied there before."""
    same_memory = transfer.fields.get("src_memory") == transfer.fields.get("dst_memory")
    if transfer.src and transfer.src == transfer.dst and same_memory:
        return Evidence(same_device=transfer.src, call=call_of(transfer))
    if before := transfer.facts.get("copied_before"):
        return Evidence(copied_before=before, call=call_of(transfer))
    if _kept_elsewhere(transfer):
        return Evidence(sent_again="in each call")
    if not copied_again(transfer):
        return None
    return Evidence(copied_before=transfer.dst, call=call_of(transfer))


def _kept_elsewhere(transfer: Transfer) -> bool:
    """A constant goes with each call, or a tensor that lies where somebody put it, not merely by default."""
    if not sent_again(transfer) or runs_away_from_forward_op(transfer):
        return False  # of a gradient's, the gradient is in the wrong place, not the tensor
    # Python's data before it was made, it is a tensor since: nothing need be sent of it a second time.
    constant = transfer.of_python_data and transfer.dtype not in HANDED_OVER_ON_HOST
    return bool(transfer.producer_requested) or not is_host(transfer.src) or constant


def severity_of(transfer: Transfer, evidence: Evidence) -> str:
    """A note of what happens seldom, and of a few bytes that are copied again."""
    small = transfer.tiny and copied_again(transfer)
    return INFO if transfer.seldom or small else WARNING


def summary(words: TransferWords, evidence: Evidence) -> str:
    """What is copied, and whether that was there already or is sent again."""
    if evidence.copied_before:
        return words.say("The code copies the same, unchanged array again and again at {at}{by_call}, {way}")
    if evidence.call:
        return words.say("The code copies a tensor at {at} by {call} to where it is already, {way}")
    if evidence.sent_again:
        return words.say("Each call sends the same tensor again for {consumers} at {at}, {way}")
    return words.say("The copy at {at} moves nothing to where it is not already, {way}")


def because(evidence: Evidence) -> str:
    """What is copied again, and why it is."""
    if evidence.same_device:
        here = told(evidence.same_device, "devices")
        return f"The array is on {here} already, and {told(evidence.call) or 'the copy'} makes another there."
    if evidence.sent_again:
        lies, taken = told(evidence.src, "devices"), told(evidence.dst, "devices")
        runs = "was requested on" if told(evidence.requested) else "runs on"
        return (
            f"The tensor, the same in each call, lies on {lies}{producer_scope(evidence)}; what takes it"
            f" {runs} {taken}{consumer_scope(evidence)}, and a copy lasts for one call only."
        )
    return ""


def advice(evidence: Evidence) -> str:
    """To copy once, or not at all."""
    if evidence.copied_before:
        return f"Copy it to {destination(evidence)} once, before the loop, and keep the copy."
    if evidence.sent_again:
        made = each(evidence.sent_from)
        there = f"; or make it there, at {' and '.join(made)}" if made else ""
        there_once = f"Copy the tensor to {destination(evidence)} once, outside of the function, and use the"
        return f"{there_once} copy{there}."
    if evidence.call:
        return "Drop the copy, or call as_in_context, which returns the same array where it is there already."
    return "Drop the copy: the tensor is there already."


def evidence_of(evidence: Evidence, part: Sequence[Hop], waits: Sequence[Sync]) -> Evidence:
    """With the lines that make what is sent again."""
    if not evidence.sent_again:
        return evidence
    made = dict.fromkeys(hop.producer_site for hop in part if hop.producer_site)
    return dataclasses.replace(evidence, sent_from=list(made))


_CONTEXTS = frozenset({"cpu", "gpu", "Context", "current_context"})


def needless_copy(situation: Situation) -> Draft | None:
    """``x.copyto(ctx)`` becomes ``x.as_in_context(ctx)``, which copies nothing that is there already."""
    source = situation.source
    if situation.evidence(Evidence).copied_before:
        return None
    values = (stmt for stmt in situation.statements if not isinstance(stmt, ast.Expr))
    for call in (call for stmt in values for call in calls_of(stmt)):
        match call:
            case ast.Call(func=ast.Attribute(attr="copyto") as move, args=[there]):
                named = constant_of(source, there, call) or there
                path = dotted(there).rpartition(".")[2]
                if called(named) not in _CONTEXTS and path not in ("ctx", "context"):
                    return None  # with an array it fills that
                name = f"as_in_{context_attribute(source, call)}"
                words = (
                    f"{name} returns the array itself where it is there already: check that neither of the"
                    " two names is changed in place afterwards."
                )
                return situation.replaced(words, move, source.code(move).removesuffix("copyto") + name)
    return None


CAUSE = Cause(
    code="redundant-copy",
    severity=WARNING,
    evidence=Evidence,
    meaning="A copy to the device where the tensor already is, or of the same tensor again and again.",
    example=EXAMPLE,
    sometimes="warning; note where it is rare or small",
    summary=summary,
    because=because,
    advice=advice,
    fix=needless_copy,
    severity_of=severity_of,
    evidence_of=evidence_of,
)
