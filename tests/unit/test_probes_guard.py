"""Whose errors end in the recorder's code: its own are counted, the program's pass."""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from types import FrameType
from typing import Any

import pytest

from probes.trace import guard
from probes.trace.guard import FAILED, IGNORED, Guard
from probes.trace.sites import Sites


class LateError(Exception):
    """A program's own way out."""


class Alarms:
    """A program's handlers of a signal, in each form that Python calls."""

    def method(self, number: int, frame: FrameType | None) -> None:
        raise LateError

    @staticmethod
    def loose(*given: Any) -> None:
        raise TimeoutError("of the program")


def unseen_by(unseen: list[tuple[str, str]]) -> Guard:
    return Guard(lambda what, why: unseen.append((what, why)), "calls")


@pytest.mark.parametrize(
    ("handler", "kind"), [(Alarms().method, LateError), (Alarms.loose, TimeoutError)], ids=["method", "loose"]
)
def test_what_a_signal_handler_raises_passes(handler: Any, kind: type[Exception]) -> None:
    unseen: list[tuple[str, str]] = []
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(kind), unseen_by(unseen):
            signal.raise_signal(signal.SIGUSR1)
        with pytest.raises(kind), IGNORED:
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert unseen == []


def test_what_a_tracer_raises_passes() -> None:
    error = None

    def tracer(frame: FrameType, event: str, argument: Any) -> None:
        raise LateError

    try:
        tracer(sys._getframe(), "line", None)
    except LateError as raised:
        error = raised
    assert error is not None
    assert not guard.is_own(error)


def test_an_exception_from_another_thread_passes_by_its_class() -> None:
    raised: list[str] = []
    inside, go_on = threading.Event(), threading.Event()

    def define(*_: Any) -> int:
        """What the recorder calls once for each line, from its own code."""
        return 0

    def target() -> None:
        sites = Sites("/nowhere", define)
        unseen: list[tuple[str, str]] = []
        try:
            while not go_on.is_set():
                with unseen_by(unseen):
                    sites.current()
                inside.set()  # from now on no function of the test is called in there
        except LateError:
            raised.append("passed")
        raised.extend(why for _, why in unseen)

    thread = threading.Thread(target=target)
    thread.start()
    assert inside.wait(60)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(LateError))
    thread.join(60)
    go_on.set()
    thread.join(60)
    assert raised == ["passed"]


def test_an_error_of_the_recorders_own_is_counted_and_ends() -> None:
    unseen: list[tuple[str, str]] = []
    with unseen_by(unseen):
        raise KeyError("size")
    with IGNORED:
        raise KeyError("size")
    assert unseen == [("calls", f"{FAILED}: KeyError: 'size'")]


def test_an_error_of_the_programs_code_that_the_recorder_called_is_counted() -> None:
    class Odd:
        def __len__(self) -> int:
            raise LateError

    unseen: list[tuple[str, str]] = []
    with unseen_by(unseen):
        len(Odd())
    assert len(unseen) == 1


def test_ctrl_c_passes() -> None:
    with pytest.raises(KeyboardInterrupt), unseen_by([]):
        raise KeyboardInterrupt
