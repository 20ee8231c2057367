"""What a browser tells of a component is read with care."""

from __future__ import annotations

from typing import Any

import pytest

from app.components.shared.event import event_of


@pytest.mark.parametrize("told", [None, "", 0, [], {}, "open", ["open"], 7])
def test_what_is_no_event_is_none(told: Any) -> None:
    assert event_of({"event": told}) is None
    assert event_of({}) is None


def test_fields_that_lack_are_empty() -> None:
    event = event_of({"event": {"type": "open", "row": None}})
    assert event is not None
    assert (event["type"], event["row"], event["metric"]) == ("open", None, "")


@pytest.mark.parametrize(
    ("told", "number"), [(3, 3), ("4", 4), (None, None), ("x", None), ([1], None), (1e999, None)]
)
def test_a_number_is_one_or_none(told: Any, number: int | None) -> None:
    event = event_of({"event": {"line": told}})
    assert event is not None
    assert event.number("line") == number
    assert event.number("row") is None
