"""Transfers that are a part of summing gradients over devices."""

from __future__ import annotations

from typing import Any

from app.facts.devices import is_host
from app.facts.transfers.transfer import Reduction, Transfer

_SUMS = frozenset({"AddN"})
"""What reductions that were built from ops sum with; another op at their line may have its own reasons."""


def collective(transfer: Transfer) -> dict[str, Any] | None:
    """A part of a reduction: said by the recorder, or a sum at the line and between the devices of one."""
    named = transfer.facts.get("collective")
    if named:
        told = {"summed_on": transfer.facts.get("summed_on"), "devices": sorted(_exchanging(transfer))}
        told |= _exchanged(transfer)
        return {"algorithm": str(named)} | {name: value for name, value in told.items() if value}
    reduction = _built_from_ops(transfer)
    if reduction is None or _sums_gradients_on_host(transfer, reduction):
        return None
    return {"algorithm": reduction.algorithm, "devices": sorted(reduction.devices)}


def reduce_on_host(transfer: Transfer) -> dict[str, Any] | None:
    """Gradients of a reduction are summed on the host, which is none of its devices."""
    named = transfer.facts.get("collective")
    if named:
        return _exchanged_over_host(transfer, str(named))
    reduction = _built_from_ops(transfer)
    if reduction is None or not _sums_gradients_on_host(transfer, reduction):
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
    devices = _exchanging(transfer)
    if not devices or summed_on in devices:
        return None
    told = {"algorithm": algorithm, "summed_on": summed_on, "devices": sorted(devices)}
    return told | _exchanged(transfer)


def _exchanged(transfer: Transfer) -> dict[str, Any]:
    """What a kvstore exchanges: gradients or weights, and of which parameter."""
    what, of = transfer.facts.get("exchanged"), transfer.text("producer")
    return {"exchanged": str(what), "exchanged_of": of} if what and of else {}


def _exchanging(transfer: Transfer) -> frozenset[str]:
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


def _built_from_ops(transfer: Transfer) -> Reduction | None:
    if transfer.text("op") not in _SUMS and transfer.text("producer_op") not in _SUMS:
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


def _sums_gradients_on_host(transfer: Transfer, reduction: Reduction) -> bool:
    host = transfer.dst if transfer.text("op") in _SUMS else transfer.src
    # What XLA compiled hands gradients out as results of a call.
    gradient = bool(transfer.fields.get("forward_loc")) or reduction.gradients
    return gradient and is_host(host) and host not in reduction.devices
