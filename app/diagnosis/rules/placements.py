"""Who placed the ends of a transfer, and what the code copies by a call, or again."""

from __future__ import annotations

from app.facts.devices import parse
from app.facts.transfers.transfer import PLUMBING, READS, Transfer, made_by_optimizer, sent


def reads_variable(transfer: Transfer) -> bool:
    """Whether a variable's value is read on another device than the variable's."""
    # Rows that the code looks up where the table lives are a result like any other.
    if transfer.producer_op == "ResourceGather" and transfer.producer_requested == transfer.src:
        return False
    return bool(transfer.facts.get("variable")) or transfer.producer_op in READS


def made_by_code(transfer: Transfer) -> bool:
    """Whether the producer is an op of the code's own, so that it has a reason to be where it is."""
    unknown = READS | PLUMBING | {"", "?", "_Arg"}
    return not (
        transfer.facts.get("producer_rewritten")
        or transfer.producer_op in unknown
        or made_by_optimizer(transfer.text("producer"))
    )


def both_named(transfer: Transfer) -> bool:
    """Whether the code named both devices, both were given, and they differ."""
    asked = transfer.producer_requested, transfer.requested
    return asked == (transfer.src, transfer.dst) and asked[0] != asked[1] and all(asked)


def runs_away_from_forward_op(transfer: Transfer) -> bool:
    """Whether the consumer is a backward op that nobody placed, whose forward op was placed elsewhere."""
    wanted = str(transfer.facts.get("forward_requested") or "")
    if transfer.requested or not parse(wanted) or not transfer.made_by_code:
        return False
    # Elsewhere than the default device it stands for a reason that is not this one.
    return transfer.dst == transfer.default and transfer.dst != wanted


def copied_again(transfer: Transfer) -> bool:
    """Whether the code copies one array, unchanged, time and again."""
    again = transfer.kind == "copy" and not transfer.fields.get("graph")
    return again and sent(transfer.fields) in transfer.context.repeated


def sent_again(transfer: Transfer) -> bool:
    """Whether one tensor that a function captured or is given goes with nearly each of its calls."""
    return transfer.kind == "arg" and not transfer.tiny and sent(transfer.fields) in transfer.context.repeated


def call_of(transfer: Transfer) -> str | None:
    """The call that copies, where the code made one."""
    call = transfer.facts.get("copy_call")
    return str(call) if call else None
