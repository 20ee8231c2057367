"""Backward ops ran outside the device scope of their forward ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.gradient_outside_scope.gradient_scopes import forward_devices, gradient_scope
from app.diagnosis.rules.backward_ops import all_of_line, forward_op
from app.diagnosis.rules.placements import called_in_scope, variable_home
from app.diagnosis.wording.evidence_facts import Facts
from app.facts.devices import parse
from app.facts.syncs import Sync
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import Transfer
from app.fixes.situation import Situation
from app.judgments.severity import WARNING
from app.views.naming import flat

_WANTED = ("forward_requested", "producer_forward_requested", "gradients_of")


def asked_elsewhere(transfer: Transfer) -> dict[str, Any] | None:
    """The consumer is a backward op that the code placed away from its forward op, which is at a variable.

    Of other tensors the code wants both ends where it put them; the variable is where it is used already.
    """
    wanted = str(transfer.facts.get("forward_requested") or "")
    if variable_home(transfer) is None or transfer.tiny or not (transfer.every_step or transfer.often):
        return None
    if transfer.requested != transfer.dst or wanted != transfer.src or not parse(wanted):
        return None
    found = {"forward_requested": wanted, "default_device": transfer.requested}
    return found | forward_op(transfer, "forward_op") | all_of_line(transfer)


def made_by_gradient(transfer: Transfer) -> dict[str, Any] | None:
    """The producer is a backward op that nobody placed, whose forward op was placed elsewhere."""
    wanted = str(transfer.facts.get("producer_forward_requested") or "")
    if transfer.producer_requested or not parse(wanted) or transfer.facts.get("producer_rewritten"):
        return None
    default = transfer.producer_default
    if transfer.src != default or transfer.src == wanted:
        return None
    found = {"producer_forward_requested": wanted, "default_device": default}
    found |= forward_op(transfer, "producer_forward_op") | all_of_line(transfer)
    return found | called_in_scope(transfer.producer_called_on)


def because(facts: Facts) -> str:
    """Gradients that run away from their forward ops."""
    wanted = facts.told("forward_requested", "devices") or facts.told("producer_forward_requested", "devices")
    at = f" at {facts.told('forward_at', 'lines')}" if "forward_at" in facts else ""
    default = facts.told("default_device")
    got = f"nowhere and got the default, {default}"
    if "called_on" in facts:
        got = f"nowhere and run {facts.called}"
    elif set(facts.each("default_device")) <= set(facts.each("requested")):
        got = f"on {default}{facts.scope('scope')}"
    return f"The forward ops{at} were requested on {wanted}; their gradients were requested {got}."


def advice(evidence: Mapping[str, Any]) -> str:
    """The scope of the forward ops."""
    wanted = dict.fromkeys(device for name in _WANTED for device in flat(evidence.get(name)))
    return (
        f"Compute the gradients in the device scope of {' and '.join(wanted) or 'the forward ops'}, like the"
        " forward ops."
    )


def line_advice(situation: Situation, said: str) -> str | None:
    """A tape for each device, where one call computes the gradients of several."""
    if len(forward_devices(situation)) < 2:
        return said
    return (
        "One call computes all its gradients in one scope: record each device's part by a tape of its own,"
        " one after the other, each in that device's scope and watching the tensor that comes from the part"
        " before. Take the last part's gradients first, in its scope, that tensor's among them, and hand this"
        " one to the part before as output_gradients."
    )


def evidence_of(evidence: dict[str, Any], part: Sequence[Hop], waits: Sequence[Sync]) -> dict[str, Any]:
    """With the lines of the forward ops."""
    lines = list(dict.fromkeys(hop.forward_site for hop in part if hop.forward_site))
    return evidence | {"forward_at": lines}


CAUSE = Cause(
    code="gradient-outside-scope",
    severity=WARNING,
    meaning="Backward ops ran outside the device scope of their forward ops.",
    summary=(
        "The gradients at {at} are computed outside their forward ops' device scope, on {default},"
        " so tensors cross {way}"
    ),
    because=because,
    advice=advice,
    line_advice=line_advice,
    act=of_line,
    fix=gradient_scope,
    evidence_of=evidence_of,
)
