"""What is said of ops that a device has no kernel of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.transfer_words import Crossing
from app.fixes.kernels.equivalents import instead, lacking
from app.views.naming import each, one, some_of


def summary(crossing: Crossing) -> str:
    """The op without a kernel, and where it ran instead."""
    evidence = crossing.evidence
    kernel = one(evidence.get("kernel"))
    if evidence.get("on_host_as_asked") is True:
        return crossing.say(
            "The code asks for {host} for {lacking} at {at}, and no GPU has a kernel of it ({kernel})",
            host=crossing.first.src if crossing.by_producer else crossing.first.dst,
            lacking=some_of(lacking(each(evidence.get("kernel"))), "ops") or "an op",
            kernel=kernel,
        )
    if crossing.by_producer:
        wanted = "requested" if evidence.get("producer_requested") else "default"
        return crossing.say(
            "{producer} at {at} has no kernel on the {wanted} device ({kernel}), runs on {src} and is used on"
            " {dsts}",
            wanted=wanted,
            kernel=kernel,
        )
    return crossing.say(
        "{consumers} at {at} {has} no kernel on the {wanted} device ({kernel}) and {runs} on {dst}",
        wanted="requested" if evidence.get("requested") else "default",
        kernel=kernel,
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
