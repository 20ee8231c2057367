"""What findings cost, in words: by the steps of the loops that their transfers belong to."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.wording.transfer_costs import Telling
from app.facts.frequency.recurrence import Own
from app.facts.transfers.hops import Hop
from tests.unit.fixes.fix_cases import hop


def row(size: int, count: int, own: Own | None = None, **fields: Any) -> Hop:
    each = own.each if own else fields.pop("each", None)
    return hop("variable-home", bytes=size, count=count, own=own, each=each, **fields)


FIT, BATCHES, LAST = Own(1, 16, "step"), Own(1, 6, "step"), Own(2, 8, "step")
TELLING = Telling(22, "step")


@pytest.mark.parametrize(
    ("hops", "told"),
    [
        ([row(128, 16, FIT), row(128, 16, FIT)], "256 B in each of 16 steps"),
        (
            # Of a variable that two loops read, one of them twice in each step.
            [row(128, 6, BATCHES), row(128, 16, FIT), row(128, 16, FIT)],
            "4.75 KiB in the whole run, 38 transfers",
        ),
        ([row(100, 6, BATCHES), row(40, 22)], "1.45 KiB in the whole run, 28 transfers"),
        (
            [row(128, 16, FIT), row(64, 6, BATCHES), row(8, 3, each=0.0)],
            "2.40 KiB in the whole run, 25 transfers",
        ),
        (
            [row(128, 16, FIT), row(128, 6, BATCHES), row(100, 16, LAST)],
            "4.31 KiB in the whole run, 38 transfers",
        ),
        # A line's rounds are its own: of what no step paces the hop table's figures are told.
        (
            [row(100, 20, Own(1, 20, "round")), row(100, 60, Own(1, 60, "round"))],
            "7.81 KiB in the whole run, 80 transfers",
        ),
        (
            [row(128, 16, FIT), row(64, 20, Own(1, 20, "round"))],
            "3.25 KiB in the whole run, 36 transfers",
        ),
        ([row(100, 8, each=0.0)], "800 B in the whole run, 8 transfers"),
    ],
    ids=[
        "one loop",
        "two loops",
        "all and one",
        "and more",
        "three loops",
        "rounds",
        "steps and rounds",
        "none",
    ],
)
def test_a_cost_is_that_of_a_step_which_there_is(hops: list[Hop], told: str) -> None:
    assert TELLING.cost(hops) == told


def test_each_call_is_said_of_one_functions_calls_only() -> None:
    calls = Telling(15, "call")
    of_one = [row(128, 15, graphs=(1,), per_call=1), row(64, 30, graphs=(1,), per_call=2)]
    assert calls.cost(of_one) == "256 B each call"
    assert calls.copying([row(128, 15, graphs=(1,), per_call=1, seconds=1e-5)]) == (
        ", about 10 µs of copying each call (estimated)"
    )
    # Two functions that move the same: no call of either moves both.
    of_two = [row(128, 15, graphs=(number,), per_call=1, seconds=1e-5) for number in (1, 2)]
    assert calls.cost(of_two) == "3.75 KiB in the whole run, 30 transfers"
    assert calls.copying(of_two) == ", about 300 µs of copying (estimated)"
    few = row(100, 10, Own(1, 10, "round"), per_call=1, graphs=(1,))
    assert Telling(40, "call").cost([few, row(50, 40)]) == "2.93 KiB in the whole run, 50 transfers"


def test_copying_in_several_loops_is_told_of_the_whole_run() -> None:
    one, other = row(128, 16, FIT, seconds=1e-5), row(128, 6, BATCHES, seconds=1e-5)
    assert TELLING.copying([one]) == ", about 10 µs of copying in each of 16 steps (estimated)"
    assert TELLING.copying([one, other]) == ", about 220 µs of copying (estimated)"


def test_what_is_in_some_rounds_only_is_not_spread_over_all_of_them() -> None:
    """GIVEN a copy that the first of three calls makes for them all THEN no call is told the mean of it."""
    each, first = row(8, 45, Own(1, 45, "round")), row(128, 15, Own(1 / 3, 45, "round"), seconds=1e-5)
    assert Telling(45, "call").cost([each, first]) == "2.23 KiB in the whole run, 60 transfers"
    assert Telling(45, "call").copying([first]) == ", about 150 µs of copying (estimated)"
    # Of two shapes in turn each is in a part of the rounds, and there is one in each of them.
    others = row(64, 30, Own(2 / 3, 45, "round"))
    assert Telling(45, "call").cost([first, others]) == "3.75 KiB in the whole run, 45 transfers"


@pytest.mark.parametrize(
    ("upload", "told"),
    [
        ({"bytes": 256, "took_ns": 50_000_000}, ""),  # 500 us for 256 B: it waited for something else
        ({"bytes": 256, "took_ns": 9_000_000}, ""),
        ({"bytes": 1 << 18, "took_ns": 50_000_000}, ", 50 % of the run (measured)"),
        # Copies of this machine were measured: so slow is none.
        ({"bytes": 1 << 18, "took_ns": 50_000_000, "seconds": 5e-5}, ""),
        ({"bytes": 1 << 18, "took_ns": 50_000_000, "seconds": 2e-4}, ", 50 % of the run (measured)"),
    ],
)
def test_time_that_cannot_be_copying_is_not_told_as_an_uploads(upload: dict[str, Any], told: str) -> None:
    size = upload.pop("bytes")
    assert Telling(50, "step", 100_000_000).stalling([row(size, 100, each=2.0, **upload)]) == told
