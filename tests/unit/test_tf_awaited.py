"""Calls of functions whose graphs never came, or could not be read: told once, with the reason."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from probes.tf.awaited import Awaited


class Recorder:
    """As much of a recording as is asked for."""

    def __init__(self) -> None:
        self.ending = False
        self.tickers: list[Any] = []
        self.graphs: list[dict[str, Any]] = []
        self.told: list[tuple[str, str, int]] = []

    def graph(self, **fields: Any) -> int:
        self.graphs.append(fields)
        return len(self.graphs)

    def unseen(self, what: str, why: str, count: int = 1) -> None:
        self.told.append((what, why, count))

    def tick(self) -> None:
        for ticker in self.tickers:
            ticker()


def awaiting() -> tuple[Awaited, Recorder]:
    recorder: Any = Recorder()
    note = SimpleNamespace(label="step", ops={"a": None, "b": None}, steps=0)
    return Awaited(recorder, {"step_1": note}), recorder


def test_what_never_came_is_told_at_the_end() -> None:
    awaited, recorder = awaiting()
    assert [awaited.called("step_1", 3) for _ in range(4)] == [1] * 4
    recorder.tick()
    assert recorder.told == []
    recorder.ending = True
    recorder.tick()
    assert recorder.told == [("ops inside step", "the runtime exported no placed graph for this call", 8)]


def test_what_came_is_not_told_and_has_the_number_that_its_calls_were_given() -> None:
    awaited, recorder = awaiting()
    awaited.called("step_1", 3)
    assert awaited.number("step_1") == 1
    awaited.arrived("step_1")
    assert awaited.number("step_1") is None
    recorder.ending = True
    recorder.tick()
    assert recorder.told == []


def test_what_could_not_be_read_is_told_with_that_reason_and_each_call_once() -> None:
    """GIVEN a graph that can't be read WHEN called THEN each call is counted once, the first one too."""
    awaited, recorder = awaiting()
    awaited.failed("step_1", "it can't be read")
    for _ in range(3):
        awaited.called("step_1", 3)
    assert [fields["partial"] for fields in recorder.graphs] == ["it can't be read"]
    recorder.tick()
    awaited.called("step_1", 3)
    recorder.ending = True
    recorder.tick()
    told = ("ops inside step", "it can't be read")
    assert recorder.told == [(*told, 6), (*told, 2)]
