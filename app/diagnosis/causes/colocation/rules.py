"""What is kept beside a variable, a table or an iterator."""

from __future__ import annotations

from typing import Any

from app.facts.transfers.transfer import READS, Transfer

ITERATORS = frozenset(
    {"IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional", "OptionalHasValue"}
    | {"OptionalGetValue", "MultiDeviceIteratorGetNextFromShard"}
)


def colocation(transfer: Transfer) -> dict[str, Any] | None:
    """The consumer was kept beside a variable or resource, not where the code asked."""
    beside = transfer.facts.get("colocated_with")
    return {"colocated_with": beside} if beside and transfer.requested != transfer.dst else None


def works_at_home(transfer: Transfer) -> dict[str, Any] | None:
    """The consumer works on a variable or table, and runs where that lives, not where the code asked."""
    return _at_home(transfer) if transfer.requested and transfer.requested != transfer.dst else None


def works_away_from_default(transfer: Transfer) -> dict[str, Any] | None:
    """The consumer works on a variable or table that does not live where ops go that nobody placed."""
    return _at_home(transfer) if not transfer.requested and transfer.dst != transfer.default else None


def _at_home(transfer: Transfer) -> dict[str, Any] | None:
    name = transfer.facts.get("works_on")
    return {"colocated_with": name, "lives_on": transfer.dst} if name else None


def made_at_home(transfer: Transfer) -> dict[str, Any] | None:
    """The producer works on a table or the like, and ran where that lives, not where the code asked."""
    name = transfer.facts.get("producer_works_on")
    if not name or transfer.text("producer_op") in READS:
        return None
    asked = transfer.producer_requested or transfer.producer_default
    return {"producer_placed_beside": name, "lives_on": transfer.src} if asked != transfer.src else None


def made_beside_iterator(transfer: Transfer) -> dict[str, Any] | None:
    """The producer takes the next element of an input pipeline, which it can do only where that lives."""
    asked = transfer.producer_requested
    if transfer.text("producer_op") not in ITERATORS or asked == transfer.src:
        return None
    home = {"lives_on": transfer.src} if asked else {}
    return {"producer_colocated_with": "the input pipeline's iterator"} | home


def made_beside(transfer: Transfer) -> dict[str, Any] | None:
    """The producer asked for no device and was put beside an op that did."""
    beside = transfer.facts.get("producer_colocated_with")
    return {"producer_placed_beside": beside} if beside and not transfer.producer_requested else None
