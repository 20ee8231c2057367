"""Copies that code calls, and what is copied again."""

from __future__ import annotations

from app.facts.transfers.transfer import Transfer, sent


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
