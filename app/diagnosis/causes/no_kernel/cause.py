"""The requested or default device has no kernel for the op and its type."""

from __future__ import annotations

import dataclasses

from app.diagnosis.cause import Cause, blamed_op, of_line
from app.diagnosis.causes.no_kernel.equivalents import instead, lacking
from app.diagnosis.rules.placements import reads_variable
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import is_gpu, is_host
from app.facts.kernels.kernel_table import without_gpu_kernel
from app.facts.transfers.transfer import Transfer
from app.judgments.evidence import Known, TransferEvidence
from app.judgments.severity import INFO, WARNING
from app.views.naming import each, some_of, told


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of ops without a kernel."""

    kernel: Known[str] = None
    """What was looked up, and that there is none."""
    dtype: Known[str] = None
    kernels_of: Known[str] = None
    """Where it was looked up."""
    on_host_as_asked: Known[bool] = None
    """The code asks for the host itself."""


def no_kernel(transfer: Transfer) -> Evidence | None:
    """The recorder looked the kernel of an end up and there was none, so that it ran elsewhere."""
    kernel, source = transfer.own_fact("no_kernel"), transfer.own_fact("kernel_from")
    return Evidence(kernel=kernel, dtype=transfer.dtype, kernels_of=source or None) if kernel else None


def on_host_as_asked(transfer: Transfer) -> Evidence | None:
    """The code asks for the host for an end that no GPU has a kernel of: no scope spares the copy."""
    asked = is_host(transfer.here) and is_gpu(transfer.there) and transfer.own("requested") == transfer.here
    by_consumer = transfer.blames == "consumer"
    other = transfer.producer_requested if by_consumer else transfer.requested
    if not asked or other or (by_consumer and reads_variable(transfer)):
        return None
    if transfer.kind not in ("copy", "arg") or not transfer.context.places_ops:
        return None
    kernel = transfer.own_fact("host_only") or without_gpu_kernel(transfer.own("op"))
    return Evidence(kernel=kernel, dtype=transfer.dtype, on_host_as_asked=True) if kernel else None


def severity_of(transfer: Transfer, evidence: Evidence) -> str:
    """A note of what happens seldom, and where the code asks for the host itself."""
    return INFO if transfer.seldom or evidence.on_host_as_asked else WARNING


def summary(words: TransferWords, evidence: Evidence) -> str:
    """The op without a kernel, and where it ran instead."""
    if evidence.on_host_as_asked is True:
        return words.say(
            "The code asks for {host} for {lacking} at {at}, and no GPU has a kernel of it ({kernel})",
            host=words.first.src if words.by_producer else words.first.dst,
            lacking=some_of(lacking(each(evidence.kernel)), "ops") or "an op",
        )
    if words.by_producer:
        wanted = "requested" if evidence.producer_requested else "default"
        return words.say(
            "{producer} at {at} has no kernel on the {wanted} device ({kernel}), runs on {src} and is used on"
            " {dsts}",
            wanted=wanted,
        )
    return words.say(
        "{consumers} at {at} {has} no kernel on the {wanted} device ({kernel}) and {runs} on {dst}",
        wanted="requested" if evidence.requested else "default",
    )


def because(evidence: Evidence) -> str:
    """The device that was asked for has no kernel of the op."""
    asked = told(evidence.requested, "devices") or told(evidence.producer_requested, "devices")
    wanted = f"Requested: {asked}. " if asked else ""
    return f"{wanted}Kernel lookup: {told(evidence.kernel)}."


def advice(evidence: Evidence) -> str:
    """What does the same and has a kernel, where that is known."""
    asked = bool(evidence.on_host_as_asked)
    return instead(each(evidence.kernel), each(evidence.dtype), asked)


CAUSE = Cause(
    code="no-kernel",
    severity=WARNING,
    evidence=Evidence,
    meaning="The requested or default device has no kernel for the op and its type.",
    sometimes="warning; note where the code asks for the host because of that",
    summary=summary,
    because=because,
    advice=advice,
    act=of_line,
    severity_of=severity_of,
    op_named=blamed_op,
)
