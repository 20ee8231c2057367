"""A pre-flight: a few steps of a script are run to foresee what it would do elsewhere; then it is ended."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from .preflight_steps import Steps
from .recording import Recording

STEPS_VARIABLE = "HOPSCOPE_PREFLIGHT_STEPS"
"""How many steps are looked at, after the first; unset where the run is no pre-flight."""
SECONDS_VARIABLE = "HOPSCOPE_PREFLIGHT_SECONDS"
"""After how many seconds the script is ended all the same."""
GPUS_VARIABLE = "HOPSCOPE_PREFLIGHT_GPUS"
"""How many GPUs the machine has that is foreseen; unset or 0 for as many as the script asks for."""


KERNELS_VARIABLE = "HOPSCOPE_PREFLIGHT_KERNELS"
"""Whose kernel table is at hand for what is foreseen; a build with GPU kernels of its own adds its own."""


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
    steps = Steps(int(os.environ.get(STEPS_VARIABLE) or 0))
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
        signal.signal(signal.SIGTERM, _out_of_time)
    seconds = float(os.environ.get(SECONDS_VARIABLE) or 0)
    if seconds > 0:
        timer = threading.Timer(seconds, _time_is_up)
        timer.name, timer.daemon = "hopscope", True
        timer.start()
    return steps


def _end(steps: int) -> None:
    sys.stderr.write(f"hopscope: pre-flight: ended after {steps} steps\n")
    if threading.current_thread() is threading.main_thread():
        raise Enough(0)
    _raise_in_main()


def _raise_in_main() -> None:
    raise_in: Any = ctypes.pythonapi.PyThreadState_SetAsyncExc
    raise_in(ctypes.c_ulong(threading.main_thread().ident or 0), ctypes.py_object(Enough))


def _time_is_up() -> None:
    """Ends what the main thread waits for, too, where the program has no use of its own for the signal."""
    if signal.getsignal(signal.SIGTERM) is _out_of_time:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    else:
        _raise_in_main()


def _out_of_time(number: int, frame: object) -> None:
    sys.stderr.write("hopscope: pre-flight: ended, its time is up\n")
    raise Enough(0)
