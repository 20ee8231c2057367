"""Backward ops that nobody placed, or that the code placed, away from their forward ops."""

from __future__ import annotations

from typing import Any

from app.diagnosis.rules.backward_ops import all_of_line, forward_op
from app.diagnosis.rules.placements import called_in_scope, variable_home
from app.facts.devices import parse
from app.facts.transfers.transfer import Transfer


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
    return found | forward_op(transfer, "forward_op") | all_of_line(transfer)


def made_by_gradient(transfer: Transfer) -> dict[str, Any] | None:
    """The producer is a backward op that nobody placed, whose forward op was placed elsewhere."""
    wanted = str(transfer.facts.get("producer_forward_requested") or "")
    if transfer.producer_requested or not parse(wanted) or transfer.facts.get("producer_rewritten"):
        return None
    default = transfer.producer_default
    if transfer.src != default or transfer.src == wanted:
        return None
    found = {"producer_forward_requested": wanted, "default_device": default}
    found |= forward_op(transfer, "producer_forward_op") | all_of_line(transfer)
    return found | called_in_scope(transfer.producer_called_on)
