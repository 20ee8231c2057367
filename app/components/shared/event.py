"""What a browser tells of a component: any page may send anything, so it is read with care."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Event(dict[str, Any]):
    """The fields of what was done; one that it lacks is ''."""

    def __missing__(self, name: str) -> str:
        """Return ''."""
        return ""

    def number(self, name: str) -> int | None:
        """A field that holds a whole number; None where it holds none."""
        try:
            return int(self[name])
        except (TypeError, ValueError, OverflowError):
            return None


def event_of(result: Mapping[str, Any]) -> Event | None:
    """What was done since the last time in a component that gave this result; None for nothing."""
    told = result.get("event")
    return Event(told) if told and isinstance(told, Mapping) else None


def ignore() -> None:
    """Do nothing: Streamlit reports only events that have a callback."""
