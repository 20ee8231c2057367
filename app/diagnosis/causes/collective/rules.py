"""A part of an exchange, or of a sum, on the devices."""

from __future__ import annotations

from typing import Any

from app.diagnosis.rules.reductions import built_from_ops, exchanged, exchanging, sums_gradients_on_host
from app.facts.transfers.transfer import Transfer


def collective(transfer: Transfer) -> dict[str, Any] | None:
    """A part of a reduction: said by the recorder, or a sum at the line and between the devices of one."""
    named = transfer.facts.get("collective")
    if named:
        told = {"summed_on": transfer.facts.get("summed_on"), "devices": sorted(exchanging(transfer))}
        told |= exchanged(transfer)
        return {"algorithm": str(named)} | {name: value for name, value in told.items() if value}
    reduction = built_from_ops(transfer)
    if reduction is None or sums_gradients_on_host(transfer, reduction):
        return None
    return {"algorithm": reduction.algorithm, "devices": sorted(reduction.devices)}
