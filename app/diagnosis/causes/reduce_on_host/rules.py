"""A part of a sum in host memory."""

from __future__ import annotations

from typing import Any

from app.diagnosis.rules.reductions import built_from_ops, exchanged, exchanging, sums_gradients_on_host
from app.facts.devices import is_host
from app.facts.transfers.transfer import Transfer


def reduce_on_host(transfer: Transfer) -> dict[str, Any] | None:
    """Gradients of a reduction are summed on the host, which is none of its devices."""
    named = transfer.facts.get("collective")
    if named:
        return _exchanged_over_host(transfer, str(named))
    reduction = built_from_ops(transfer)
    if reduction is None or not sums_gradients_on_host(transfer, reduction):
        return _summed_by_hand(transfer)
    return {"algorithm": reduction.algorithm, "devices": sorted(reduction.devices)}


def _summed_by_hand(transfer: Transfer) -> dict[str, Any] | None:
    """The code copies gradients of several devices to the host and adds them up there, by what is known."""
    place = transfer.fields.get("graph") or 0, transfer.fields.get("loc") or 0
    found = transfer.context.hand_sums.get(place)
    made = transfer.fields.get("producer_op"), transfer.fields.get("producer_loc"), transfer.src
    if found is None or not is_host(transfer.dst) or made not in found.gradients:
        return None
    told = {
        "algorithm": "the code itself",
        "summed_on": transfer.dst,
        "devices": sorted(found.devices),
        "handed_back_at": list(found.back_at),
        "applied_at": list(found.applied_at),
    }
    return {name: value for name, value in told.items() if value}


def _exchanged_over_host(transfer: Transfer, algorithm: str) -> dict[str, Any] | None:
    """The recorder names the device that sums; it may be one of those that exchange."""
    summed_on = transfer.facts.get("summed_on")
    if not isinstance(summed_on, str) or not is_host(summed_on):
        return None
    devices = exchanging(transfer)
    if not devices or summed_on in devices:
        return None
    told = {"algorithm": algorithm, "summed_on": summed_on, "devices": sorted(devices)}
    return told | exchanged(transfer)
