"""The requested or default device has no kernel for the op and its type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.no_kernel.rules import severity_of
from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.transfer_words import Crossing
from app.fixes.kernels.equivalents import instead, lacking
from app.fixes.kernels.integer_products import no_kernel
from app.judgments.severity import WARNING
from app.views.naming import each, some_of


def summary(crossing: Crossing) -> str:
    """The op without a kernel, and where it ran instead."""
    evidence = crossing.evidence
    if evidence.get("on_host_as_asked") is True:
        return crossing.say(
            "The code asks for {host} for {lacking} at {at}, and no GPU has a kernel of it ({kernel})",
            host=crossing.first.src if crossing.by_producer else crossing.first.dst,
            lacking=some_of(lacking(each(evidence.get("kernel"))), "ops") or "an op",
        )
    if crossing.by_producer:
        wanted = "requested" if evidence.get("producer_requested") else "default"
        return crossing.say(
            "{producer} at {at} has no kernel on the {wanted} device ({kernel}), runs on {src} and is used on"
            " {dsts}",
            wanted=wanted,
        )
    return crossing.say(
        "{consumers} at {at} {has} no kernel on the {wanted} device ({kernel}) and {runs} on {dst}",
        wanted="requested" if evidence.get("requested") else "default",
    )


def because(facts: Facts) -> str:
    """The device that was asked for has no kernel of the op."""
    asked = facts.told("requested", "devices") or facts.told("producer_requested", "devices")
    wanted = f"Requested: {asked}. " if asked else ""
    return f"{wanted}Kernel lookup: {facts.told('kernel')}."


def advice(evidence: Mapping[str, Any]) -> str:
    """What does the same and has a kernel, where that is known."""
    asked = bool(evidence.get("on_host_as_asked"))
    return instead(each(evidence.get("kernel")), each(evidence.get("dtype")), asked)


CAUSE = Cause(
    code="no-kernel",
    severity=WARNING,
    meaning="The requested or default device has no kernel for the op and its type.",
    sometimes="warning; note where the code asks for the host because of that",
    summary=summary,
    because=because,
    advice=advice,
    act=of_line,
    fix=no_kernel,
    severity_of=severity_of,
)
