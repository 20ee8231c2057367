"""Who placed the ends of a transfer."""

from __future__ import annotations

from typing import Any

from app.facts.transfers.transfer import PLUMBING, READS, Transfer, made_by_optimizer


def variable_home(transfer: Transfer) -> dict[str, Any] | None:
    """A variable's value is read on another device than the variable's."""
    variable = transfer.facts.get("variable")
    if not variable and transfer.text("producer_op") not in READS:
        return None
    # Rows that the code looks up where the table lives are a result like any other.
    if transfer.text("producer_op") == "ResourceGather" and transfer.producer_requested == transfer.src:
        return None
    told = ("kept_by", "created_at", "created_in")
    known = {"variable": variable} | {name: transfer.facts.get(name) for name in told}
    rows = {"rows": True} if transfer.text("producer_op") == "ResourceGather" else {}
    return {"lives_on": transfer.src} | rows | {name: value for name, value in known.items() if value}


def made_by_code(transfer: Transfer) -> bool:
    """Whether the producer is an op of the code's own, so that it has a reason to be where it is."""
    unknown = READS | PLUMBING | {"", "?", "_Arg"}
    return not (
        transfer.facts.get("producer_rewritten")
        or transfer.text("producer_op") in unknown
        or made_by_optimizer(transfer.text("producer"))
    )


def called_in_scope(device: str) -> dict[str, Any]:
    """That the default device is that of the scope around the function's call."""
    return {"called_on": device} if device else {}


def both_named(transfer: Transfer) -> bool:
    """Whether the code named both devices, both were given, and they differ."""
    asked = transfer.producer_requested, transfer.requested
    return asked == (transfer.src, transfer.dst) and asked[0] != asked[1] and all(asked)
