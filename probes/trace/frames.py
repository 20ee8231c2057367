"""Lets hooks go unnoticed: they look like what they stand before, and leave no frame in tracebacks.

A hook calls what it stands before; an error of that is the program's, and its traceback is printed as if the
hook were not there. Python 3.9 and 3.10 keep a copy of the traceback of an error that is raised again: there
the hook's frame stays.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from types import TracebackType
from typing import Any, Callable, Optional, TypeVar

Hook = TypeVar("Hook", bound=Callable[..., Any])


def drop_frame(error: BaseException) -> None:
    """Take the first frame off an error's traceback: in a hook's ``except``, before a bare ``raise``.

    It costs nothing where no error comes by, unlike `PASSING`.
    """
    trace = error.__traceback__
    if trace is not None:
        _drop(error, trace)


def _drop(error: BaseException, trace: TracebackType) -> None:
    frame = trace.tb_frame
    rest: Optional[TracebackType] = trace
    while rest is not None and rest.tb_frame is frame:
        rest = rest.tb_next
    error.__traceback__ = rest


class _Passing:
    """Around the call of what a hook stands before: ``with PASSING: return original(..)``."""

    __slots__ = ()

    def __enter__(self) -> None:
        """Nothing is kept: one instance stands around all calls."""

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        """Every error passes, without the frame that it passed through."""
        if error is not None and trace is not None:
            _drop(error, trace)


PASSING = _Passing()


def stands_for(original: Any) -> Callable[[Hook], Hook]:
    """Decorate a hook so that its name, signature and source are those of what it stands before.

    `inspect.signature` follows `__wrapped__` and `inspect.getfullargspec` does not: Keras asks both about one
    function, so both get the same answer.
    """

    def decorate(hook: Hook) -> Hook:
        functools.update_wrapper(hook, original)
        with contextlib.suppress(Exception):  # C functions have none, and a program's own may refuse to say
            hook.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]  # any function takes it
        return hook

    return decorate
