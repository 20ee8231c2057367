"""Backward ops ran outside the device scope of their forward ops."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.gradient_outside_scope.example import EXAMPLE
from app.diagnosis.rules.placements import reads_variable, runs_away_from_forward_op
from app.diagnosis.wording.scope_openers import consumer_scope
from app.facts.devices import parse
from app.facts.syncs import Sync
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import Transfer
from app.fixes.code.device_notation import alone
from app.fixes.scopes.device_scopes import scoped
from app.fixes.scopes.framework_placement import trains_a_model
from app.fixes.situation import Draft, Situation
from app.judgments.evidence import Known, TransferEvidence
from app.judgments.severity import WARNING
from app.views.naming import each, flat, told


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of backward ops that run elsewhere than their forward ops."""

    forward_requested: Known[str] = None
    """Device that the code asked for, for the forward op of the consumer."""
    producer_forward_requested: Known[str] = None
    forward_op: Known[str] = None
    gradients_of: Known[list[str]] = None
    """Devices of all gradients of the line."""
    forward_at: list[str] | None = None

    @property
    def forward_devices(self) -> list[str]:
        """The devices of the forward ops."""
        return [*each(self.forward_requested), *each(self.producer_forward_requested)]

    @property
    def gradient_devices(self) -> list[str]:
        """The devices that the line's gradients belong to, also those of gradients that are there already."""
        return list(dict.fromkeys([*self.forward_devices, *flat(self.gradients_of)]))


def made_for_gradient(transfer: Transfer) -> Evidence | None:
    """The consumer is a backward op that nobody placed, whose forward op was placed elsewhere."""
    if not runs_away_from_forward_op(transfer):
        return None
    wanted, called_on = str(transfer.facts["forward_requested"]), transfer.called_on or None
    return _of_line(transfer, forward_requested=wanted, default_device=transfer.default, called_on=called_on)


def asked_elsewhere(transfer: Transfer) -> Evidence | None:
    """The consumer is a backward op that the code placed away from its forward op, which is at a variable.

    Of other tensors the code wants both ends where it put them; the variable is where it is used already.
    """
    wanted = str(transfer.facts.get("forward_requested") or "")
    if not reads_variable(transfer) or transfer.tiny or not (transfer.every_step or transfer.often):
        return None
    if transfer.requested != transfer.dst or wanted != transfer.src or not parse(wanted):
        return None
    return _of_line(transfer, forward_requested=wanted, default_device=transfer.requested)


def made_by_gradient(transfer: Transfer) -> Evidence | None:
    """The producer is a backward op that nobody placed, whose forward op was placed elsewhere."""
    wanted = str(transfer.facts.get("producer_forward_requested") or "")
    if transfer.producer_requested or not parse(wanted) or transfer.facts.get("producer_rewritten"):
        return None
    default, called_on = transfer.producer_default, transfer.producer_called_on or None
    if transfer.src != default or transfer.src == wanted:
        return None
    return _of_line(transfer, producer_forward_requested=wanted, default_device=default, called_on=called_on)


def _of_line(transfer: Transfer, **known: Any) -> Evidence:
    """The forward op, and the devices that all gradients of the line belong to."""
    op, devices = transfer.own_fact("forward_op"), transfer.facts.get("gradients_of")
    gradients_of = list(map(str, devices)) if isinstance(devices, list) else None
    return Evidence(forward_op=str(op) if op else None, gradients_of=gradients_of, **known)


def because(evidence: Evidence) -> str:
    """Gradients that run away from their forward ops."""
    wanted = told(evidence.forward_requested or evidence.producer_forward_requested, "devices")
    at = f" at {told(evidence.forward_at, 'lines')}" if evidence.forward_at else ""
    default = told(evidence.default_device)
    got = f"nowhere and got the default, {default}"
    if evidence.called_on:
        got = f"nowhere and run where the function is called, {told(evidence.called_on, 'devices')}"
    elif set(each(evidence.default_device)) <= set(each(evidence.requested)):
        got = f"on {default}{consumer_scope(evidence)}"
    return f"The forward ops{at} were requested on {wanted}; their gradients were requested {got}."


def advice(evidence: Evidence) -> str:
    """The scope of the forward ops."""
    wanted = " and ".join(evidence.gradient_devices) or "the forward ops"
    return f"Compute the gradients in the device scope of {wanted}, like the forward ops."


def line_advice(situation: Situation, said: str) -> str | None:
    """A tape for each device, where one call computes the gradients of several."""
    if len(situation.evidence(Evidence).gradient_devices) < 2:
        return said
    return (
        "One call computes all its gradients in one scope: record each device's part by a tape of its own,"
        " one after the other, each in that device's scope and watching the tensor that comes from the part"
        " before. Take the last part's gradients first, in its scope, that tensor's among them, and hand this"
        " one to the part before as output_gradients."
    )


def evidence_of(evidence: Evidence, part: Sequence[Hop], waits: Sequence[Sync]) -> Evidence:
    """With the lines of the forward ops."""
    lines = list(dict.fromkeys(hop.forward_site for hop in part if hop.forward_site))
    return dataclasses.replace(evidence, forward_at=lines)


def gradient_scope(situation: Situation) -> Draft | None:
    """The gradients are computed in the scope of their forward ops."""
    device = alone(situation.evidence(Evidence).gradient_devices)
    if device is None or trains_a_model(situation):
        return None
    words = f"Computes the gradients on {device}, beside their forward ops; check that all of them ran there."
    return scoped(situation, device, words)


CAUSE = Cause(
    code="gradient-outside-scope",
    severity=WARNING,
    evidence=Evidence,
    meaning="Backward ops ran outside the device scope of their forward ops.",
    example=EXAMPLE,
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
