"""Inferred transfers become measured where the copies that ran agree with them, and only there."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.judge import hop_table
from app.facts.tables import Tables
from app.facts.transfers.observed_copies import confirmed
from probes.trace.rows import Key, Location
from tests.unit.traces import hop_fields

LINE, OTHER = 1, 2


def hop(number: int, src: str, dst: str, count: int | None, **fields: Any) -> Key:
    return Key(number, "hop", hop_fields(src, dst, **({"loc": LINE, "basis": "inferred"} | fields)), count)


def copies(
    number: int,
    device: str,
    count: int,
    loc: int = LINE,
    within: str | None = "backward",
    stays: bool = False,
) -> Key:
    fields = {"device": device, "op": "CopyCPU2CPU", "within": within, "loc": loc, "basis": "measured"}
    return Key(number, "copies", fields | ({"stays": True} if stays else {}), count)


BACK = hop(1, "cpu:2", "cpu:1", 30)
AND_BACK = hop(2, "cpu:1", "cpu:2", 10)
TO_CARD, FROM_CARD = hop(4, "cpu:0", "gpu:0", 5), hop(5, "gpu:1", "cpu:0", 7)
TWICE = hop(3, "cpu:2", "cpu:1", 30, tensor="u")


@pytest.mark.parametrize(
    ("hops", "ran", "found"),
    [
        # As many, where they send or where they receive.
        ([BACK], [copies(9, "cpu:2", 30)], {1}),
        ([BACK], [copies(9, "cpu:1", 30)], {1}),
        ([BACK, AND_BACK], [copies(8, "cpu:2", 30), copies(9, "cpu:1", 10)], {1, 2}),
        ([BACK, AND_BACK], [copies(8, "cpu:2", 10), copies(9, "cpu:1", 30)], {1, 2}),
        ([BACK, TWICE], [copies(9, "cpu:2", 60)], {1, 3}),
        # Between the host and cards, on the cards.
        ([TO_CARD, FROM_CARD], [copies(8, "gpu:0", 5), copies(9, "gpu:1", 7)], {4, 5}),
        # From an array of a device to another one there.
        ([BACK], [copies(8, "cpu:2", 30), copies(9, "cpu:2", 4, stays=True)], {1}),
        ([BACK], [copies(8, "cpu:2", 26), copies(9, "cpu:2", 4, stays=True)], set()),
        # One too few, one too many, elsewhere, at another line, none at all.
        ([BACK], [copies(9, "cpu:2", 29)], set()),
        ([BACK], [copies(9, "cpu:2", 31)], set()),
        ([BACK], [copies(9, "cpu:3", 30)], set()),
        ([BACK], [copies(9, "cpu:2", 30, OTHER)], set()),
        ([BACK], [copies(8, "cpu:2", 30), copies(9, "cpu:1", 1)], set()),
        ([BACK, AND_BACK], [copies(8, "cpu:2", 40)], set()),
        ([BACK], [], set()),
        ([BACK], [copies(9, "cpu:2", 0)], set()),
        # A hop that was not counted could be any number; one that never happened is none.
        ([BACK, hop(2, "cpu:1", "cpu:2", None)], [copies(9, "cpu:2", 30)], set()),
        ([BACK, hop(2, "cpu:1", "cpu:2", 0)], [copies(9, "cpu:2", 30)], {1}),
        # What is known otherwise already does not enter.
        ([BACK, hop(2, "cpu:1", "cpu:2", 5, basis="estimated")], [copies(9, "cpu:2", 30)], {1}),
        ([hop(1, "cpu:2", "cpu:1", 30, loc=0)], [copies(9, "cpu:2", 30, 0)], set()),
    ],
)
def test_what_the_copies_confirm(hops: list[Key], ran: list[Key], found: set[int]) -> None:
    assert confirmed(hops, ran) == found


def test_what_was_underway_tells_apart_where_hops_say_it() -> None:
    push = hop(1, "cpu:1", "cpu:0", 30, facts={"within": "kvstore push"})
    pull = hop(2, "cpu:0", "cpu:1", 30, facts={"within": "kvstore pull"})
    ran = [copies(8, "cpu:1", 30, within="kvstore push"), copies(9, "cpu:0", 31, within="kvstore pull")]
    assert confirmed([push, pull], ran) == {1}
    # Without it, all of the line is one.
    plain = [hop(1, "cpu:1", "cpu:0", 30), hop(2, "cpu:0", "cpu:1", 31)]
    assert confirmed(plain, ran) == {1, 2}


def test_a_row_of_the_table_is_as_firm_as_its_weakest_part() -> None:
    """GIVEN the same hop in two processes, seen in one THEN their common row stays inferred."""
    base = 1 << 32
    locations = {
        loc: Location(loc, "train.py:7", None, "/train.py", 7, "main") for loc in (LINE, base + LINE)
    }
    one, other = hop(1, "cpu:2", "cpu:1", 30), hop(base + 1, "cpu:2", "cpu:1", 30, loc=base + LINE)
    ran = [copies(2, "cpu:2", 30)]

    def basis(*keys: Key) -> str:
        (row,) = hop_table(Tables([], locations, [], list(keys), []))
        return row.basis

    assert basis(one) == "inferred"
    assert basis(one, *ran) == "measured"
    assert basis(one, other, *ran) == "inferred"
    assert basis(one, other, *ran, copies(base + 2, "cpu:2", 30, base + LINE)) == "measured"
    assert basis(hop(1, "cpu:2", "cpu:1", 30, bytes=None), *ran) == "unknown"
