"""Keeps the recorder's own errors from the program: they are counted, and the program goes on.

An error that comes out of the recorder's code need not be its own. Python runs signal handlers and tracers
between any two instructions, and another thread may raise an exception in this one: such an error is the
program's, perhaps the only way out of a loop, and passes.
"""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
import traceback
from types import FrameType, TracebackType
from typing import Callable, Optional

DEBUG = "HOPSCOPE_DEBUG"
"""Set to print such errors with their traceback."""
FAILED = "the recorder failed there"
"""How the reason begins for which such a thing was not seen."""
Unseen = Callable[[str, str], None]

_EVENTS = ("call", "line", "return", "exception", "opcode", "c_call", "c_return", "c_exception")
"""What a tracer is called for."""
_RECORDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_WITH_PYTHON = tuple(sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib"))


def is_own(error: BaseException) -> bool:
    """Return True if an error out of the recorder's code was raised by that code, or by what it called."""
    trace, innermost = error.__traceback__, None
    while trace is not None:
        innermost = trace.tb_frame
        if not _is_recorders(innermost) and _is_interpreters_call(innermost):
            return False
        trace = trace.tb_next
    # An exception from another thread has no frame of its own. Only its class can tell.
    return innermost is None or not (_is_recorders(innermost) and _is_of_program(type(error)))


def _is_recorders(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_RECORDER)


def _is_interpreters_call(frame: FrameType) -> bool:
    """Return True for a signal handler (number, frame) and a tracer (frame, event, argument)."""
    code, values = frame.f_code, frame.f_locals
    given = [values.get(name) for name in code.co_varnames[: code.co_argcount]]
    if code.co_flags & inspect.CO_VARARGS:
        given += values.get(code.co_varnames[code.co_argcount + code.co_kwonlyargcount]) or ()
    return any(
        (isinstance(first, int) and isinstance(second, FrameType))
        or (isinstance(first, FrameType) and second in _EVENTS)
        for first, second in zip(given, given[1:])
    )


def _is_of_program(kind: type[BaseException]) -> bool:
    """Return True if neither Python nor an installed package defines this class."""
    if kind.__module__ == "__main__":
        return True
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    installed = any(part in file for part in _INSTALLED)
    return bool(file) and not installed and not file.startswith((_RECORDER, *_WITH_PYTHON))


def failed(unseen: Unseen, what: str, error: Exception) -> None:
    """Count that `what` was not seen because of an error of the recorder's own; raise any other again."""
    if not is_own(error):
        raise error
    if os.environ.get(DEBUG):
        traceback.print_exception(type(error), error, error.__traceback__)
    unseen(what, f"{FAILED}: {type(error).__name__}: {error}")


class Guard:
    """Around what the recorder does inside the program's calls; it adds no frame between them."""

    __slots__ = ("_unseen", "_what")

    def __init__(self, unseen: Unseen, what: str) -> None:
        """`unseen` counts that `what` went unseen, and why."""
        self._unseen = unseen
        self._what = what

    def __enter__(self) -> None:
        """Nothing is kept: one guard may stand around many things at a time."""

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> bool:
        """Only errors of the recorder's own end here: Ctrl-C, the process's end and the program's pass."""
        if not isinstance(error, Exception) or not is_own(error):
            return False
        failed(self._unseen, self._what, error)
        return True


class _Ignored:
    """As `Guard`, for what need not be counted."""

    __slots__ = ()

    def __enter__(self) -> None:
        """Nothing is kept: one instance stands around all."""

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> bool:
        return isinstance(error, Exception) and is_own(error)


IGNORED = _Ignored()
"""Around what may fail in the recorder's code without loss."""
