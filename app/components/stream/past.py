"""History as viewers of the Machine page are told it: what comes unasked, and what they ask for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from app.components.stream.connection import number_in
from app.components.stream.thinning import History, encode, step_for, thin

Keeps = Callable[[float], History]
"""Gives the samples since a time, epoch seconds: the monitor's, or a replay's."""
RECENT_S = 130.0
"""How much history comes with the first message, seconds."""
LONGEST_S = 3600.0


def recent_text(history: Keeps, now: float, hz: float, since: float = 0.0) -> str:
    """The last two minutes before `now`, or no more than since then, as JSON."""
    return encode(thin(history(max(since, now - RECENT_S)), step_for(RECENT_S, hz)))


def past_text(history: Keeps, asked: dict[str, Any], now: float, hz: float) -> str:
    """The answer to ``{"span": seconds, "fields": [..]}``: what was asked for and what there is of it.

    ``{"span", "step", "fields", "history"}``; a value is the mean of `step` seconds, with 0 that of a sample.
    """
    span, fields = wanted_in(asked)
    step = step_for(span, hz)
    head = json.dumps({"span": span, "step": step, "fields": fields})
    return f'{head[:-1]}, "history": {encode(thin(history(now - span), step, fields))}}}'


def wanted_in(asked: dict[str, Any]) -> tuple[float, tuple[str, ...]]:
    """The seconds of history and the fields that a viewer asks for, within bounds."""
    span, fields = asked.get("span"), asked.get("fields")
    seconds = number_in(span)
    names = tuple(str(name) for name in fields) if isinstance(fields, list) else ()
    return min(max(RECENT_S if seconds is None else seconds, 1.0), LONGEST_S), names
