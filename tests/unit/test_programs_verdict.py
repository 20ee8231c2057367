"""Verdicts from repeated measurements: when they hold, when they do not, and when nobody can tell."""

from __future__ import annotations

import importlib

import pytest

from runners.program import HELPERS
from runners.programs.helpers.shared import verdict
from runners.programs.helpers.shared.verdict import Repeats


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.removesuffix("\n")


def test_a_figure_is_told_with_its_spread() -> None:
    assert Repeats((0.0123, 0.0119, 0.01304)).ms() == "12.3 ms (11.9..13)"
    assert Repeats((1.0, 4.57, 0.5, 2.0)).ratio() == "1.5 times (0.5..4.57)"
    assert Repeats((12.3456, 12.3456)).told("ms", 1000) == "12,346 ms (12,346..12,346)"


def test_what_was_measured_once_has_no_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOPSCOPE_TRACE", raising=False)
    assert Repeats((0.0983,)).ms() == "98.3 ms (once)"
    monkeypatch.setenv("HOPSCOPE_TRACE", "1")
    assert Repeats((0.0983,)).ms() == "98.3 ms (once, while recorded)"
    assert Repeats((0.0983, 0.0983)).ms() == "98.3 ms (98.3..98.3)"


@pytest.mark.parametrize(
    ("loads", "told"),
    [
        ((1.0, 2.0), ""),
        # What measures may use all cores itself.
        ((3.0, 7.0), ""),
        (
            (3.1, 3.1),
            ". The machine was busy: a load of 3.1 at the start and 3.1 at the end",
        ),
        (
            (0.2, 9.26),
            ". The machine was busy: a load of 0.2 at the start and 9.3 at the end",
        ),
    ],
)
def test_a_busy_machine_is_told_beside_its_times(
    monkeypatch: pytest.MonkeyPatch, loads: tuple[float, float], told: str
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: range(4))
    monkeypatch.syspath_prepend(HELPERS)
    measure = importlib.import_module("shared.measure")
    asked = iter(loads)
    monkeypatch.setattr("os.getloadavg", lambda: (next(asked), 0.0, 0.0))
    times = measure.in_turn({"a": lambda: None}, 1)
    assert times.beside() == (f"{told}, on 4 cores" if told else "")


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([(1.2, 1.3, 1.1, 1.4)], "holds: x"),
        # One repeat of four may be off.
        ([(1.2, 0.4, 1.1, 1.4)], "holds: x"),
        ([(0.9, 1.04, 0.8, 1.0)], "does not hold: x"),
        # Longer than one of the others only.
        ([(1.2, 1.3, 1.1, 1.4), (0.9, 1.0, 1.0, 1.0)], "does not hold: x"),
    ],
)
def test_longer_where_most_repeats_say_so(
    capsys: pytest.CaptureFixture[str], times: list[tuple[float, ...]], expected: str
) -> None:
    verdict.say_longer([Repeats(values) for values in times], "x")
    assert said(capsys) == f"verdict {expected}"


def test_on_a_crowded_machine_nothing_fails(capsys: pytest.CaptureFixture[str]) -> None:
    verdict.say_longer([Repeats((0.9, 1.0))], "x", "it is full")
    assert said(capsys) == "verdict not testable here: it is full. X"
    verdict.say_longer([Repeats((1.9, 2.0))], "x", "it is full")
    assert said(capsys) == "verdict holds: x"


@pytest.mark.parametrize(
    "times",
    [
        (0.5, 1.5, 0.9, 2.0),
        # Most say so, but by next to nothing.
        (1.01, 1.02, 1.03, 1.2),
        # One may be right where all others see nothing.
        (0.9, 1.04, 0.8, 3.0),
    ],
)
def test_repeats_that_do_not_agree_decide_nothing(
    capsys: pytest.CaptureFixture[str], times: tuple[float, ...]
) -> None:
    verdict.say_longer([Repeats(times)], "a took 1.2 times as long")
    assert said(capsys) == (
        "verdict not testable here: the repeats do not agree; with more of them, or on an idle machine, they "
        "may. A took 1.2 times as long"
    )
