"""The requested or default device has no kernel for the op and its type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.cause import Cause, blamed_op, of_line
from app.diagnosis.causes.no_kernel.equivalents import instead, lacking
from app.diagnosis.rules.placements import variable_home
from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import is_gpu, is_host
from app.facts.kernels.kernel_table import without_gpu_kernel
from app.facts.transfers.transfer import Transfer
from app.judgments.severity import INFO, WARNING
from app.views.naming import each, some_of


def no_kernel(transfer: Transfer) -> dict[str, Any] | None:
    """The recorder looked the kernel up and there was none."""
    if not transfer.facts.get("no_kernel"):
        return None
    known = {"kernel": transfer.facts["no_kernel"], "dtype": transfer.text("dtype")}
    return known | _looked_up(transfer, "kernel_from")


def made_without_kernel(transfer: Transfer) -> dict[str, Any] | None:
    """The producer has no kernel for the requested device, so it ran here and its result goes back."""
    kernel = transfer.facts.get("producer_no_kernel")
    if not kernel:
        return None
    told = _looked_up(transfer, "producer_kernel_from")
    known = {"kernel": kernel, "dtype": transfer.text("dtype")}
    return known | told | {"producer_requested": transfer.producer_requested}


def on_host_as_asked(transfer: Transfer) -> dict[str, Any] | None:
    """The code asks for the host for the consumer, which no GPU has a kernel of: no scope spares the copy."""
    to_host = is_gpu(transfer.src) and is_host(transfer.dst) and transfer.requested == transfer.dst
    if not to_host or transfer.producer_requested or variable_home(transfer) is not None:
        return None
    return _as_asked(transfer, transfer.text("op"), "host_only")


def made_on_host_as_asked(transfer: Transfer) -> dict[str, Any] | None:
    """The same of the producer, whose result goes to a GPU."""
    to_gpu = is_host(transfer.src) and is_gpu(transfer.dst) and transfer.producer_requested == transfer.src
    if not to_gpu or transfer.requested:
        return None
    return _as_asked(transfer, transfer.text("producer_op"), "producer_host_only")


def _as_asked(transfer: Transfer, op: str, fact: str) -> dict[str, Any] | None:
    if transfer.kind not in ("copy", "arg") or not transfer.context.places_ops:
        return None
    kernel = transfer.facts.get(fact) or without_gpu_kernel(op)
    return {"kernel": kernel, "dtype": transfer.text("dtype"), "on_host_as_asked": True} if kernel else None


def _looked_up(transfer: Transfer, name: str) -> dict[str, Any]:
    """Whose kernels were looked through, where the recorder said so."""
    source = transfer.facts.get(name)
    return {"kernels_of": source} if source else {}


def severity_of(transfer: Transfer, evidence: Mapping[str, Any]) -> str:
    """A note of what happens seldom, and where the code asks for the host itself."""
    return INFO if transfer.seldom or evidence.get("on_host_as_asked") else WARNING


def summary(words: TransferWords) -> str:
    """The op without a kernel, and where it ran instead."""
    evidence = words.evidence
    if evidence.get("on_host_as_asked") is True:
        return words.say(
            "The code asks for {host} for {lacking} at {at}, and no GPU has a kernel of it ({kernel})",
            host=words.first.src if words.by_producer else words.first.dst,
            lacking=some_of(lacking(each(evidence.get("kernel"))), "ops") or "an op",
        )
    if words.by_producer:
        wanted = "requested" if evidence.get("producer_requested") else "default"
        return words.say(
            "{producer} at {at} has no kernel on the {wanted} device ({kernel}), runs on {src} and is used on"
            " {dsts}",
            wanted=wanted,
        )
    return words.say(
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
    severity_of=severity_of,
    op_named=blamed_op,
)
