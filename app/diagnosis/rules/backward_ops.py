"""Backward ops that stand elsewhere than their forward ops."""

from __future__ import annotations

from typing import Any

from app.diagnosis.rules.placements import called_in_scope
from app.facts.devices import parse
from app.facts.transfers.transfer import Transfer


def made_for_gradient(transfer: Transfer) -> dict[str, Any] | None:
    """The consumer is a backward op that nobody placed, whose forward op was placed elsewhere."""
    wanted = str(transfer.facts.get("forward_requested") or "")
    if transfer.requested or not parse(wanted) or not transfer.made_by_code:
        return None
    # Elsewhere than the default device it stands for a reason that is not this one.
    if transfer.dst != transfer.default or transfer.dst == wanted:
        return None
    found = {"forward_requested": wanted, "default_device": transfer.default}
    found |= forward_op(transfer, "forward_op") | all_of_line(transfer)
    return found | called_in_scope(transfer.called_on)


def all_of_line(transfer: Transfer) -> dict[str, Any]:
    """The devices that all gradients of the line belong to, those too that are computed there."""
    devices = transfer.facts.get("gradients_of")
    return {"gradients_of": [str(device) for device in devices]} if isinstance(devices, list) else {}


def forward_op(transfer: Transfer, name: str) -> dict[str, Any]:
    """The op whose gradient it is, where the recorder said so."""
    op = transfer.facts.get(name)
    return {"forward_op": str(op)} if op else {}
