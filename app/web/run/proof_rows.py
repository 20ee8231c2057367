"""A finding's proof as the list on a run's page shows it: devices in their hues, lines with their code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.diagnosis.proof import Proof, Stop, Way
from app.diagnosis.proof_facts import Fact, Place
from app.views import units
from app.views.python_words import python_words

Badge = Callable[[str], dict[str, str]]
"""Makes the badge of a device."""
NO_DEVICE = "no device"


def proof_rows(proof: Proof, badge: Badge, shown: str = "") -> dict[str, Any]:
    """What the browser lays out: the ways' stops as rows of a table, then the facts.

    A line's text stands where the line is first named; `shown` is the line whose text stands above already.
    """
    place = _Places({shown})
    more = units.plural(proof.left_out, "other way") if proof.left_out else ""
    return {
        "ways": [_way(way, badge, place) for way in proof.ways],
        "more": f"And {more}: the hops below have them all." if more else "",
        "facts": [_fact(fact, badge, place) for fact in proof.facts],
    }


class _Places:
    """Makes lines of the source, with the text of each only the first time."""

    def __init__(self, told: set[str]) -> None:
        self._told = told

    def __call__(self, place: Place | None) -> dict[str, Any] | None:
        if place is None:
            return None
        code = "" if place.site in self._told else place.code
        self._told.add(place.site)
        return {"site": place.site, "code": code, "words": python_words([code])[0] if code else []}


def _way(way: Way, badge: Badge, place: _Places) -> dict[str, Any]:
    return {"moved": way.moved, "stops": [_stop(stop, badge, place) for stop in way.stops]}


def _stop(stop: Stop, badge: Badge, place: _Places) -> dict[str, Any]:
    same_line = stop.scope is not None and stop.scope == stop.at
    return {
        "role": stop.role,
        "op": stop.op or "not known",
        "at": place(stop.at),
        "asked": badge(stop.requested) if stop.requested else None,
        "nothing": NO_DEVICE if stop.requested == "" else "",
        "scope": None if same_line else place(stop.scope),
        "by": stop.opener or ("by a scope on this very line" if same_line else ""),
        "device": badge(stop.device),
        "why": stop.why,
    }


def _fact(fact: Fact, badge: Badge, place: _Places) -> dict[str, Any]:
    return {
        "label": fact.label,
        "text": ", ".join(fact.texts),
        "devices": [badge(device) for device in fact.devices],
        "places": [place(one) for one in fact.places],
    }
