"""A pre-flight: a few steps of a script are run to foresee what it would do elsewhere; then it is ended."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from .preflight_end import cut_short
from .preflight_steps import Steps
from .recording import Recording, clock

STEPS_VARIABLE = "HOPSCOPE_PREFLIGHT_STEPS"
"""How many steps are looked at, after the first; unset where the run is no pre-flight."""
SECONDS_VARIABLE = "HOPSCOPE_PREFLIGHT_SECONDS"
"""After how many seconds the script is ended all the same."""
GPUS_VARIABLE = "HOPSCOPE_PREFLIGHT_GPUS"
"""How many GPUs the machine has that is foreseen; unset or 0 for as many as the script asks for."""


KERNELS_VARIABLE = "HOPSCOPE_PREFLIGHT_KERNELS"
"""Whose kernel table is at hand for what is foreseen; a build with GPU kernels of its own adds its own."""


_FIRST_WORD_S = 10.0
"""After how long it first says what it waits for; then after twice as long, and so on."""


class Enough(SystemExit):
    """Ends the script as sys.exit does: what it has to clean up is cleaned up."""


def wanted() -> bool:
    """Whether this run is a pre-flight."""
    return bool(os.environ.get(STEPS_VARIABLE))


def limit_steps(
    recording: Recording,
    first_step_over: Callable[[], None] = lambda: None,
    before_end: Callable[[], None] = lambda: None,
) -> Steps:
    """End the script once it has made as many steps as were asked for, and the first; gives what counts them.

    The first makes what later ones have: it is told from them by calling `first_step_over` after each
    optimizer that is applied in it. Before the end `before_end` is called, to see what was asked for and has
    not run yet.
    """
    more = int(os.environ.get(STEPS_VARIABLE) or 0)
    steps = Steps(more)
    stepped = recording.stepped

    def counted(times: int = 1, loc: int = 0, by: int = 0) -> None:
        stepped(times, loc, by)
        if steps.add((loc, by), times):
            first_step_over()
        if steps.enough:
            recording.fact({"preflight": {"ended_after": steps.made}})
            before_end()
            _end(steps.made)

    recording.stepped = counted  # type: ignore[method-assign]
    in_main = threading.current_thread() is threading.main_thread()
    if in_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _end_in_main)
    bound = Bound(steps, 1 + more, float(os.environ.get(SECONDS_VARIABLE) or 0))
    recording.tickers.append(bound.look)
    atexit.register(bound.ended)
    return steps


class Bound:
    """How long the script may go on; says on the way what it waits for."""

    def __init__(self, steps: Steps, wanted: int, seconds: float) -> None:
        """`wanted` steps are waited for, at most `seconds`; 0 for as long as it takes."""
        self._steps = steps
        self._wanted = wanted
        self._seconds = seconds
        self._began = clock()
        self._next_word = _FIRST_WORD_S
        self._over = False

    def look(self) -> None:
        """End the script when its time is up; called a few times a second, by another thread."""
        passed = (clock() - self._began) / 1e9
        if self._over or self._steps.enough:
            return
        if 0 < self._seconds <= passed:
            self._over = True
            why = f"{self._made()} were made in {self._seconds:g} s; --seconds gives it more time"
            _say(f"ended: {why}")
            _time_is_up()
        elif passed >= self._next_word:
            self._next_word *= 2
            limit = f", at most {self._seconds:g} s (--seconds)" if self._seconds else ""
            _say(f"{self._made()} were made after {passed:.0f} s; it goes on until they are{limit}")

    def ended(self) -> None:
        """Say so where the script ended before it had made its steps."""
        if not self._over and not self._steps.enough:
            _say(f"the script ended by itself: {self._made()} were made")

    def _made(self) -> str:
        made = self._steps.made
        none = " (no optimizer was applied)" if not made else ""
        return f"{made} of {self._wanted} steps{none}"


def _say(sentence: str) -> None:
    with contextlib.suppress(Exception):  # the script may have closed it
        sys.stderr.write(f"hopscope: pre-flight: {sentence}\n")


def _end(steps: int) -> None:
    _say(f"ended after {steps} steps")
    cut_short()
    if threading.current_thread() is threading.main_thread():
        raise Enough(0)
    _raise_in_main()


def _raise_in_main() -> None:
    raise_in: Any = ctypes.pythonapi.PyThreadState_SetAsyncExc
    raise_in(ctypes.c_ulong(threading.main_thread().ident or 0), ctypes.py_object(Enough))


def _time_is_up() -> None:
    """Ends what the main thread waits for, too, where the program has no use of its own for the signal."""
    cut_short()
    if signal.getsignal(signal.SIGTERM) is _end_in_main:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    else:
        _raise_in_main()


def _end_in_main(number: int, frame: object) -> None:
    cut_short()
    raise Enough(0)
