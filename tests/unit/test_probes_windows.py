"""A window's counts where the call lasted for several slices: from events as the runtime leaves them."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from probes.tf import windows
from probes.tf.runtime_events import MARK, Event, Ops, ThreadEvents
from probes.tf.windows import Window

MAIN, WORKER = 1, 2
ENCLOSED = b"ExecutorState::Process#id=7,iter_num=0#"


class Runtime:
    """The runtime's event recorder, with what it gives out slice by slice, and nothing after that.

    It has a clock of its own: a slice takes a second, and being off `deaf_ns`.
    """

    def __init__(self, *slices: list[ThreadEvents], deaf_ns: int = 0) -> None:
        self._slices = list(slices)
        self._deaf_ns = deaf_ns
        self._now = 0
        self._stopped = 0
        self.last = threading.Event()
        """Only the last slice is still to be taken out."""

    def time_ns(self) -> int:
        return self._now

    def start(self) -> bool:
        if self._stopped:
            self._now += self._deaf_ns
        if self._stopped >= len(self._slices) - 1:
            self.last.set()
        return True

    def mark(self) -> None:
        pass

    def stop(self) -> int:
        self._stopped += 1
        return self._stopped - 1

    def count(self, recorded: int) -> int:
        self._now += 1_000_000_000
        return sum(len(row.events) for row in self.read(recorded))

    def read(self, recorded: int) -> Iterator[ThreadEvents]:
        return iter(self._slices[recorded] if recorded < len(self._slices) else [])

    def free(self, recorded: int) -> None:
        pass


def counted(monkeypatch: pytest.MonkeyPatch, runtime: Runtime, slice_s: float = 0.025) -> Ops:
    """What a window says that is open for all slices of this runtime."""
    with monkeypatch.context() as patched:
        patched.setattr(windows, "time", runtime)
        window = Window.begun(runtime, timed=False, slice_s=slice_s)  # type: ignore[arg-type]  # a double
        assert window is not None
        assert runtime.last.wait(60)
        return window.end()


def op(name: str, at: int) -> Event:
    return (f"{name}:Tanh#id=7#".encode(), at, at + 1)


def caller() -> ThreadEvents:
    return ThreadEvents(MAIN, [(MARK, 0, 1), (b"FunctionRun#id=7#", 1, 100)])


def test_ops_of_a_slice_whose_step_ends_in_a_later_slice_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    first = [ThreadEvents(WORKER, [op("turn", 11), op("turn", 13), op("turn", 15)])]
    second = [caller(), ThreadEvents(WORKER, [op("turn", 31), op("turn", 33), (ENCLOSED, 10, 40)])]
    ops = counted(monkeypatch, Runtime(first, second))
    assert ops.counts == {b"turn": 5}


def test_ops_of_another_step_in_an_earlier_slice_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    other = (b"ExecutorState::Process#id=8,iter_num=0#", 10, 40)
    first = [ThreadEvents(WORKER, [op("theirs", 11)])]
    second = [caller(), ThreadEvents(WORKER, [op("theirs", 31), other, op("turn", 51), (ENCLOSED, 50, 60)])]
    assert counted(monkeypatch, Runtime(first, second)).counts == {b"turn": 1}


def test_a_call_in_one_slice_is_counted_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [caller(), ThreadEvents(WORKER, [op("turn", 11), op("turn", 13), (ENCLOSED, 10, 40)])]
    ops = counted(monkeypatch, Runtime(both), slice_s=3600)
    assert (ops.counts, ops.whole) == ({b"turn": 2}, True)


def test_counts_grow_by_the_time_that_went_unrecorded(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [op("turn", 31 + number) for number in range(100)]
    second = [caller(), ThreadEvents(WORKER, [*turns, (ENCLOSED, 10, 1000)])]
    ops = counted(monkeypatch, Runtime([], second, deaf_ns=100_000_000), slice_s=0.2)
    assert ops.counts is not None
    assert 100 < ops.counts[b"turn"] <= 110
    assert not ops.whole


def test_a_call_that_went_unrecorded_for_long_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    second = [caller(), ThreadEvents(WORKER, [op("turn", 31), (ENCLOSED, 10, 40)])]
    assert counted(monkeypatch, Runtime([], second, deaf_ns=1_000_000_000)).counts is None
