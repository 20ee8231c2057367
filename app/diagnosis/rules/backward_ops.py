"""Transfers because a backward op stands elsewhere than its forward op."""

from __future__ import annotations

from typing import Any

from app.diagnosis.rules.op_placement import called_in_scope, variable_home
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
    found |= _forward_op(transfer, "forward_op") | _all_of_line(transfer)
    return found | called_in_scope(transfer.called_on)


def asked_elsewhere(transfer: Transfer) -> dict[str, Any] | None:
    """The consumer is a backward op that the code placed away from its forward op, which is at a variable.

    Of other tensors the code wants both ends where it put them; the variable is where it is used already.
    """
    wanted = str(transfer.facts.get("forward_requested") or "")
    if variable_home(transfer) is None or transfer.tiny or not (transfer.every_step or transfer.often):
        return None
    if transfer.requested != transfer.dst or wanted != transfer.src or not parse(wanted):
        return None
    found = {"forward_requested": wanted, "default_device": transfer.requested}
    return found | _forward_op(transfer, "forward_op") | _all_of_line(transfer)


def made_by_gradient(transfer: Transfer) -> dict[str, Any] | None:
    """The producer is a backward op that nobody placed, whose forward op was placed elsewhere."""
    wanted = str(transfer.facts.get("producer_forward_requested") or "")
    if transfer.producer_requested or not parse(wanted) or transfer.facts.get("producer_rewritten"):
        return None
    default = transfer.producer_default
    if transfer.src != default or transfer.src == wanted:
        return None
    found = {"producer_forward_requested": wanted, "default_device": default}
    found |= _forward_op(transfer, "producer_forward_op") | _all_of_line(transfer)
    return found | called_in_scope(transfer.producer_called_on)


def _all_of_line(transfer: Transfer) -> dict[str, Any]:
    """The devices that all gradients of the line belong to, those too that are computed there."""
    devices = transfer.facts.get("gradients_of")
    return {"gradients_of": [str(device) for device in devices]} if isinstance(devices, list) else {}


def _forward_op(transfer: Transfer, name: str) -> dict[str, Any]:
    """The op whose gradient it is, where the recorder said so."""
    op = transfer.facts.get(name)
    return {"forward_op": str(op)} if op else {}
