"""Transfers that are a part of summing gradients over devices."""

from __future__ import annotations

import dataclasses
from typing import TypeVar

from app.facts.devices import is_host
from app.facts.transfers.transfer import Reduction, Transfer
from app.judgments.evidence import ExchangeEvidence

E = TypeVar("E", bound=ExchangeEvidence)

_SUMS = frozenset({"AddN"})
"""What reductions that were built from ops sum with; another op at their line may have its own reasons."""


def exchanged(transfer: Transfer, evidence: E) -> E:
    """The evidence with what a kvstore exchanges: gradients or weights, and of which parameter."""
    what, of = transfer.facts.get("exchanged"), transfer.text("producer")
    return dataclasses.replace(evidence, exchanged=str(what), exchanged_of=of) if what and of else evidence


def exchanging(transfer: Transfer) -> frozenset[str]:
    """The devices that exchange gradients, as the transfer says, else as the collectives of its line do."""
    named = transfer.facts.get("exchange_devices")
    if isinstance(named, list):
        return frozenset(map(str, named))
    return frozenset(
        device
        for reduction in transfer.context.reductions
        if reduction.loc and reduction.loc == transfer.fields.get("loc")
        for device in reduction.devices
    )


def built_from_ops(transfer: Transfer) -> Reduction | None:
    """The reduction that an op of its line sums for, between its devices or with the host."""
    if transfer.op not in _SUMS and transfer.producer_op not in _SUMS:
        return None
    for reduction in transfer.context.reductions:
        ends = {transfer.src, transfer.dst}
        if (
            reduction.loc
            and reduction.loc == transfer.fields.get("loc")
            and reduction.graph == (transfer.fields.get("graph") or 0)
            and ends & reduction.devices
            and all(end in reduction.devices or is_host(end) for end in ends)
        ):
            return reduction
    return None


def sums_gradients_on_host(transfer: Transfer, reduction: Reduction) -> bool:
    """Whether gradients are summed on the host, which is none of the reduction's devices."""
    host = transfer.dst if transfer.op in _SUMS else transfer.src
    # What XLA compiled hands gradients out as results of a call.
    gradient = bool(transfer.fields.get("forward_loc")) or reduction.gradients
    return gradient and is_host(host) and host not in reduction.devices
