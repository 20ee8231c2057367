"""Copies that bring nothing new."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.rules.backward_ops import made_for_gradient
from app.diagnosis.rules.repeated_copies import call_of, copied_again, sent_again
from app.facts.devices import is_host
from app.facts.transfers.transfer import HANDED_OVER_ON_HOST, Transfer
from app.judgments.severity import INFO, WARNING


def redundant_copy(transfer: Transfer) -> dict[str, Any] | None:
    """A copy to where the tensor is already, or of a tensor that was copied there before."""
    same_memory = transfer.fields.get("src_memory") == transfer.fields.get("dst_memory")
    if transfer.src and transfer.src == transfer.dst and same_memory:
        return {"same_device": transfer.src} | call_of(transfer)
    if transfer.facts.get("copied_before"):
        return {"copied_before": transfer.facts["copied_before"]} | call_of(transfer)
    if _kept_elsewhere(transfer):
        return {"sent_again": "in each call"}
    return {"copied_before": transfer.dst} | call_of(transfer) if copied_again(transfer) else None


def _kept_elsewhere(transfer: Transfer) -> bool:
    """A constant goes with each call, or a tensor that lies where somebody put it, not merely by default."""
    if not sent_again(transfer) or made_for_gradient(transfer) is not None:
        return False  # of a gradient's, the gradient is in the wrong place, not the tensor
    # Python's data before it was made, it is a tensor since: nothing need be sent of it a second time.
    constant = transfer.of_python_data and transfer.text("dtype") not in HANDED_OVER_ON_HOST
    return bool(transfer.producer_requested) or not is_host(transfer.src) or constant


def severity_of(transfer: Transfer, evidence: Mapping[str, Any]) -> str:
    """A note of what happens seldom, and of a few bytes that are copied again."""
    small = transfer.tiny and copied_again(transfer)
    return INFO if transfer.seldom or small else WARNING
