"""It was kept beside a variable, a table or an iterator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.cause import Cause
from app.diagnosis.causes.colocation.input_pipelines import prefetched
from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.transfers.transfer import READS, Transfer
from app.judgments.severity import INFO
from app.views.naming import each, some_of

_BESIDE = ("colocated_with", "producer_colocated_with", "producer_placed_beside")

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


def summary(words: TransferWords) -> str:
    """Which op is kept beside what."""
    known = next(filter(None, (words.evidence.get(name) for name in _BESIDE)), None)
    said = "{consumers} at {at} {is} kept beside {beside}, {way}"
    if words.by_producer:
        said = "{producer} at {at} runs beside {beside} on {src}, used on {dsts}"
    return words.say(said, beside=some_of(each(known), "ops"))


def because(facts: Facts) -> str:
    """An op runs where what it works on, or stands beside, lives."""
    beside = next((facts.told(name, "ops") for name in _BESIDE if name in facts), "")
    asked = facts.told("requested" if "colocated_with" in facts else "producer_requested", "devices")
    wanted = f" Requested: {asked}." if asked else ""
    if "lives_on" in facts:
        return f"It works on {beside} and runs where that lives, {facts.told('lives_on', 'devices')}.{wanted}"
    return f"It stands in one colocation group with {beside}.{wanted}"


def advice(evidence: Mapping[str, Any]) -> str | None:
    """Of an input pipeline, whose elements may come to another device; None for what has its place."""
    if "producer_colocated_with" not in evidence:
        return None
    return "Let the input pipeline deliver to the device that uses its elements."


CAUSE = Cause(
    code="colocation",
    severity=INFO,
    meaning="It was kept beside a variable, a table or an iterator.",
    summary=summary,
    because=because,
    advice=advice,
    act=lambda hop: (hop.src, hop.dst, hop.cause.blames),
    fix=prefetched,
)
