"""A finding's proof as the list on a run's page shows it: devices in their hues, lines with their code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.analysis.proof import Proof, Stop, Way
from app.analysis.proof_facts import Fact, Place
from app.views import units
from app.views.python_words import python_words

Badge = Callable[[str], dict[str, str]]
"""Makes the badge of a device."""
NO_DEVICE = "no device"


def proof_rows(proof: Proof, badge: Badge) -> dict[str, Any]:
    """What the browser lays out: the ways' stops as rows of a table, then the facts."""
    more = units.plural(proof.left_out, "other way") if proof.left_out else ""
    return {
        "ways": [_way(way, badge) for way in proof.ways],
        "more": f"And {more}: the hops below have them all." if more else "",
        "facts": [_fact(fact, badge) for fact in proof.facts],
    }


def _way(way: Way, badge: Badge) -> dict[str, Any]:
    return {"moved": way.moved, "stops": [_stop(stop, badge) for stop in way.stops]}


def _stop(stop: Stop, badge: Badge) -> dict[str, Any]:
    same_line = stop.scope is not None and stop.scope == stop.at
    return {
        "role": stop.role,
        "op": stop.op or "not known",
        "at": _place(stop.at),
        "asked": badge(stop.requested) if stop.requested else None,
        "nothing": NO_DEVICE if stop.requested == "" else "",
        "scope": None if same_line else _place(stop.scope),
        "by": stop.opener or ("by a scope on this very line" if same_line else ""),
        "device": badge(stop.device),
        "why": stop.why,
    }


def _fact(fact: Fact, badge: Badge) -> dict[str, Any]:
    return {
        "label": fact.label,
        "text": ", ".join(fact.texts),
        "devices": [badge(device) for device in fact.devices],
        "places": [_place(place) for place in fact.places],
    }


def _place(place: Place | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {
        "site": place.site,
        "code": place.code,
        "words": python_words([place.code])[0] if place.code else [],
    }
