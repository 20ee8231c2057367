"""Transfers that were only inferred from an algorithm, held against the copies that really ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from app.facts.groups import grouped, summed
from probes.trace.rows import Key

Place = tuple[int, str]
"""A line, and what was underway there; '' where the transfers of a line do not say."""


def confirmed(hops: Iterable[Key], copies: Iterable[Key]) -> frozenset[int]:
    """Ids of the inferred hop keys that the copies at their line agree with, in number and in place.

    The copies of a line must be exactly as many as its inferred hops, on each device that sends, or on each
    that receives, or, since a copy between the host and a card may run on the card, on each of those. Copies
    that stay on their device are no hops. One that is missing or too many leaves all
    of the line inferred: which of them ran cannot be told then.
    """
    ran: dict[Place, Counter[str]] = {}
    for key in copies:
        if key.fields.get("stays"):
            continue
        loc, device = key.fields.get("loc") or 0, key.fields.get("device") or ""
        for place in {(loc, key.fields.get("within") or ""), (loc, "")}:
            ran.setdefault(place, Counter())[device] += key.count or 0
    inferred = grouped((_place(key), key) for key in hops if _is_inferred(key))
    found: set[int] = set()
    for place, keys in inferred.items():
        counted = +ran.get(place, Counter())
        if counted and counted in (_by_device(keys, end) for end in (_sender, _receiver, _card)):
            found.update(key.id for key in keys)
    return frozenset(found)


def _is_inferred(key: Key) -> bool:
    return key.fields.get("basis") == "inferred" and bool(key.fields.get("loc")) and key.count != 0


def _place(key: Key) -> Place:
    within = (key.fields.get("facts") or {}).get("within")
    return key.fields["loc"], within if isinstance(within, str) else ""


def _sender(key: Key) -> str:
    return key.fields.get("src") or ""


def _receiver(key: Key) -> str:
    return key.fields.get("dst") or ""


def _card(key: Key) -> str:
    """The end that is a card, where one is; else the sender."""
    ends = (_sender(key), _receiver(key))
    return next((end for end in ends if end.rsplit("/", 1)[-1].startswith("gpu:")), ends[0])


def _by_device(keys: Sequence[Key], end: Callable[[Key], str]) -> Counter[str] | None:
    """Executions of some hops by one of their ends; None when one was not counted."""
    if any(key.count is None for key in keys):
        return None
    return +summed((end(key), key.count) for key in keys)
