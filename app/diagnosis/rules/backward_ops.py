"""Backward ops that stand elsewhere than their forward ops."""

from __future__ import annotations

from app.facts.devices import parse
from app.facts.transfers.transfer import Transfer


def runs_away_from_forward_op(transfer: Transfer) -> bool:
    """Whether the consumer is a backward op that nobody placed, whose forward op was placed elsewhere."""
    wanted = str(transfer.facts.get("forward_requested") or "")
    if transfer.requested or not parse(wanted) or not transfer.made_by_code:
        return False
    # Elsewhere than the default device it stands for a reason that is not this one.
    return transfer.dst == transfer.default and transfer.dst != wanted
