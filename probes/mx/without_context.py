"""From which line the arrays on the host come that nobody gave a context, through ops that follow them.

On the devices of others they are what an op with inputs of several contexts has too much of: the line that
made them, not the op's or that of its other inputs, is to be changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from ..trace.hop import HOST
from .arrays import Arrays
from .marks import Mark

Made = tuple[str, int]
"""(op, location) of what made an array."""
_UNKNOWN = ("", "?")


class WithoutContext:
    """What is known of the host's arrays, by the op and line that a mark has."""

    def __init__(self, arrays: Arrays) -> None:
        """Nothing ran yet."""
        self._arrays = arrays
        self._first: dict[tuple[str, int], Optional[Made]] = {}

    def ran(self, op: str, location: int, device: str, inputs: Sequence[Any]) -> None:
        """An op runs at a line for the first time; what has inputs is where they are."""
        if device is not HOST:
            return
        # What a copy of another device's brings was asked for here by name.
        self._first[(op, location)] = self.made(inputs) if inputs else (op, location)

    def sent(self, location: int, device: str, handle: Any) -> None:
        """Python's data is written into an array, which was made for it here, or before."""
        if device is HOST:
            mark = self._arrays.marks.get(handle.value)
            before = mark is not None and mark.op not in _UNKNOWN
            own = ("Python", location)
            self._first[own] = self._of(mark) if mark is not None and before else own

    def made(self, inputs: Sequence[Any]) -> Optional[Made]:
        """What made the first of these arrays that lies on the host because nobody said where."""
        return next(filter(None, (self._of(self._arrays.mark(array.handle)) for array in inputs)), None)

    def _of(self, mark: Mark) -> Optional[Made]:
        if mark.device is not HOST or mark.op in _UNKNOWN or mark.origin is not None:
            return None
        return self._first.get((mark.op, mark.loc))
