"""Transfers because a backward op stands elsewhere than its forward op."""

from __future__ import annotations

from typing import Any

from app.analysis.devices import parse
from app.analysis.transfer import Transfer


def made_for_gradient(transfer: Transfer) -> dict[str, Any] | None:
    """The consumer is a backward op that nobody placed, whose forward op was placed elsewhere."""
    wanted = str(transfer.facts.get("forward_requested") or "")
    if transfer.requested or not parse(wanted) or not transfer.made_by_code:
        return None
    # Elsewhere than the default device it stands for a reason that is not this one.
    if transfer.dst != transfer.default or transfer.dst == wanted:
        return None
    return {"forward_requested": wanted, "default_device": transfer.default}


def made_by_gradient(transfer: Transfer) -> dict[str, Any] | None:
    """The producer is a backward op that nobody placed, whose forward op was placed elsewhere."""
    wanted = str(transfer.facts.get("producer_forward_requested") or "")
    if transfer.producer_requested or not parse(wanted) or transfer.facts.get("producer_rewritten"):
        return None
    default = transfer.context.default(transfer.src)
    if transfer.src != default or transfer.src == wanted:
        return None
    return {"producer_forward_requested": wanted, "default_device": default}
