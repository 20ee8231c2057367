"""Keeps the recorder's own errors from the program: they are counted, and the program goes on."""

from __future__ import annotations

import os
import traceback
from types import TracebackType
from typing import Callable, Optional

DEBUG = "HOPSCOPE_DEBUG"
"""Set to print such errors with their traceback."""
FAILED = "the recorder failed there"
"""How the reason begins for which such a thing was not seen."""
Unseen = Callable[[str, str], None]


def failed(unseen: Unseen, what: str, error: Exception) -> None:
    """Count that `what` was not seen because of an error of the recorder's own."""
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
        """Only errors end here: Ctrl-C and the end of the process pass."""
        if not isinstance(error, Exception):
            return False
        failed(self._unseen, self._what, error)
        return True
