"""Where a pre-flight's first step ends, and when there were enough: optimizers by turns make one step."""

from __future__ import annotations

import pytest

from probes.trace.preflight_steps import Steps

MARKS = {"d": (73, 0), "g": (74, 0), "e": (75, 0)}


def ended(applied: str, more: int = 3) -> tuple[str, str, int, int]:
    """What was applied up to the end of the first step, and after it; whole steps after it, and all."""
    steps = Steps(more)
    first = ""
    for number, name in enumerate(applied):
        if steps.add(MARKS[name]):
            first += name
        if steps.enough:
            return first, applied[len(first) : number + 1], steps.after_first, steps.made
    return first, applied[len(first) :], steps.after_first, steps.made


@pytest.mark.parametrize(
    ("applied", "expected"),
    [
        ("dddddd", ("d", "ddd", 3, 4)),
        ("dgdgdgdgdgdg", ("dg", "dgdgdg", 3, 4)),
        ("dgedgedgedgedge", ("dge", "dgedgedge", 3, 4)),
        # Applied once to build what the optimizer keeps.
        ("dggggggg", ("dg", "ggg", 3, 4)),
        # A discriminator that is ahead at first.
        ("dddgdgdgdg", ("d", "ddgdg", 3, 4)),
        # Twice as often as the other.
        ("ddgddgddg", ("d", "dgdd", 3, 4)),
        # One loop after another: their steps add up.
        ("ddggggggg", ("d", "dgggg", 5, 6)),
        # What takes turns comes no more: it is not waited for.
        ("dgdgdgdddd", ("dg", "dgdgdd", 4, 5)),
        # Over before there were enough.
        ("d", ("d", "", 0, 1)),
        ("", ("", "", 0, 0)),
    ],
)
def test_optimizers_that_take_turns_make_one_step_together(
    applied: str, expected: tuple[str, str, int, int]
) -> None:
    assert ended(applied) == expected


def test_a_call_that_makes_several_steps_is_seen_twice() -> None:
    steps = Steps(3)
    assert steps.add((1, 0), 8)
    assert not steps.enough
    assert not steps.add((1, 0), 8)
    assert steps.enough
    assert (steps.after_first, steps.made) == (8, 16)
