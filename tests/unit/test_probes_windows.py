"""A window's counts where the call lasted for several slices: from events as the runtime leaves them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from probes.tf.runtime_events import MARK, Event, ThreadEvents
from probes.tf.windows import Window

MAIN, WORKER = 1, 2
ENCLOSED = b"ExecutorState::Process#id=7,iter_num=0#"


class Runtime:
    """The runtime's event recorder, with what it gives out slice by slice; being off takes `deaf_s`."""

    def __init__(self, *slices: list[ThreadEvents], deaf_s: float = 0.0) -> None:
        self._slices = list(slices)
        self._deaf_s = deaf_s
        self._left = len(slices)
        self.last = threading.Event()
        """Only the last slice is still to be taken out."""

    def start(self) -> bool:
        if self._left < len(self._slices):
            time.sleep(self._deaf_s)
        if self._left == 1:
            self.last.set()
        return True

    def mark(self) -> None:
        pass

    def stop(self) -> int:
        self._left = max(0, self._left - 1)
        return len(self._slices) - self._left - 1

    def count(self, recorded: int) -> int:
        return sum(len(row.events) for row in self._slices[recorded])

    def read(self, recorded: int) -> Iterator[ThreadEvents]:
        return iter(self._slices[recorded])

    def free(self, recorded: int) -> None:
        pass


def op(name: str, at: int) -> Event:
    return (f"{name}:Tanh#id=7#".encode(), at, at + 1)


def caller() -> ThreadEvents:
    return ThreadEvents(MAIN, [(MARK, 0, 1), (b"FunctionRun#id=7#", 1, 100)])


def test_ops_of_a_slice_whose_step_ends_in_a_later_slice_are_counted() -> None:
    first = [ThreadEvents(WORKER, [op("turn", 11), op("turn", 13), op("turn", 15)])]
    second = [caller(), ThreadEvents(WORKER, [op("turn", 31), op("turn", 33), (ENCLOSED, 10, 40)])]
    runtime = Runtime(first, second)
    window = Window.begun(runtime, timed=False)  # type: ignore[arg-type]
    assert window is not None
    assert runtime.last.wait(10)
    ops = window.end()
    assert ops.counts == {b"turn": 5}
    assert not ops.whole


def test_ops_of_another_step_in_an_earlier_slice_are_not_counted() -> None:
    other = (b"ExecutorState::Process#id=8,iter_num=0#", 10, 40)
    first = [ThreadEvents(WORKER, [op("theirs", 11)])]
    second = [caller(), ThreadEvents(WORKER, [op("theirs", 31), other, op("turn", 51), (ENCLOSED, 50, 60)])]
    runtime = Runtime(first, second)
    window = Window.begun(runtime, timed=False)  # type: ignore[arg-type]
    assert window is not None
    assert runtime.last.wait(10)
    assert window.end().counts == {b"turn": 1}


def test_a_call_in_one_slice_is_counted_as_a_whole() -> None:
    both = [caller(), ThreadEvents(WORKER, [op("turn", 11), op("turn", 13), (ENCLOSED, 10, 40)])]
    window = Window.begun(Runtime(both), timed=False, slice_s=3600)  # type: ignore[arg-type]
    assert window is not None
    ops = window.end()
    assert (ops.counts, ops.whole) == ({b"turn": 2}, True)


def test_a_call_during_which_recording_was_off_for_long_says_nothing() -> None:
    second = [caller(), ThreadEvents(WORKER, [op("turn", 31), (ENCLOSED, 10, 40)])]
    runtime = Runtime([], second, deaf_s=0.2)
    window = Window.begun(runtime, timed=False)  # type: ignore[arg-type]
    assert window is not None
    assert runtime.last.wait(10)
    assert window.end().counts is None
