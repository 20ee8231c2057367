"""First calls of functions: one thread's waits for another's, but never in a thread that is not Python's."""

from __future__ import annotations

import _thread
import threading

import pytest

from probes.tf import first_calls
from probes.tf.first_calls import FirstCalls

LONG_S = 60.0


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits, waits for longer than the tests do, on a busy machine too."""
    monkeypatch.setattr(first_calls, "LONGEST_S", 10 * LONG_S)


def test_a_first_call_waits_for_that_of_another_thread_and_none_later_does() -> None:
    firsts, came = FirstCalls(), threading.Event()
    order: list[str] = []

    def other() -> None:
        came.set()
        assert firsts.others()
        held = firsts.begin("b")
        order.append("b begins")
        firsts.end("b", held)

    assert firsts.begin("a") and not firsts.others()
    thread = threading.Thread(target=other)
    thread.start()
    assert came.wait(LONG_S)
    order.append("a ends")
    firsts.end("a", True)
    thread.join(LONG_S)
    assert order == ["a ends", "b begins"]
    assert firsts.settled == {"a", "b"}
    assert not firsts.begin("a") and firsts.holder == 0


def test_a_call_within_a_first_call_holds_nothing() -> None:
    firsts = FirstCalls()
    assert firsts.begin("outer")
    assert not firsts.begin("inner")
    firsts.end("inner", False)
    assert firsts.holder == threading.get_ident()
    firsts.end("outer", True)
    assert firsts.holder == 0


def test_a_thread_that_python_did_not_start_never_waits() -> None:
    """TensorFlow calls a graph's Python functions from such, while the graph's own first call goes on."""
    firsts, done = FirstCalls(), threading.Event()
    told: list[bool] = []

    def foreign() -> None:
        told.append(firsts.begin("inside"))
        done.set()

    assert firsts.begin("around")
    _thread.start_new_thread(foreign, ())
    assert done.wait(LONG_S)
    assert told == [False]
    firsts.end("around", True)
