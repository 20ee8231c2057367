"""Variables, which gradients are wanted for, that live on the host and that the code copies to use them.

Gluon's Parameters are known by name as soon as MXNet marks their arrays. Of other arrays only those are
variables that the code trains: the same array is copied again in a later step, with other values. Data that
gradients are wanted for is a new array for each batch.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any, Optional

from ..trace.hop import HOST
from .arrays import Arrays
from .marks import Mark

_DEPTH = 8
"""Frames between the C call that marks a Parameter's arrays and the method of the Parameter."""
_BATCHS = 4
"""Copies of a batch's data, as often with other values, before anything makes a step."""


class Variable:
    """What is known of such an array."""

    __slots__ = ("loc", "name", "read", "step", "times")

    def __init__(self, name: str, loc: int) -> None:
        """`name` is a Parameter's, '' for another array; `loc` is the line that made it, 0 for unknown."""
        self.name = name
        self.loc = loc
        self.read: Optional[tuple[str, int]] = None
        """(op, location) of what made the values that were copied first."""
        self.step: Optional[int] = None
        """When that was."""
        self.times = 0
        """How often it was copied."""


def marked(arrays: Arrays, addresses: Iterable[int], location: int) -> None:
    """MXNet was told to keep gradients of the arrays at these addresses, by the code at `location`."""
    name = _parameter(arrays)
    for address in addresses:
        if not name and address in arrays.variables:
            continue  # the same array, whose gradient begins anew
        mark = arrays.marks.get(address)
        made = location if name or mark is None else mark.loc
        arrays.variables[address] = Variable(name, made)


def copied(arrays: Arrays, handle: Any, mark: Mark) -> Optional[Variable]:
    """The host's variable whose copy autograd records, for it to be used; None for other arrays."""
    variable = arrays.variables.get(handle.value)
    if (
        variable is None
        or mark.device is not HOST
        or (not variable.name and variable.loc in arrays.made_anew)
    ):
        return None
    step = arrays.recording.step
    if variable.read is None:
        variable.read, variable.step = (mark.op, mark.loc), step
    variable.times += 1
    later = step != variable.step if step is not None else variable.times > _BATCHS
    trained = later and variable.read != (mark.op, mark.loc)
    return variable if variable.name or trained else None


def freed(arrays: Arrays, address: int) -> None:
    """An array that gradients were wanted for is gone; one that its line makes next is another batch's."""
    variable = arrays.variables.pop(address, None)
    if variable is not None and not variable.name:
        arrays.made_anew.add(variable.loc)


def _parameter(arrays: Arrays) -> str:
    """The name of the Parameter whose method had its arrays marked; '' for other code."""
    from mxnet.gluon import Parameter

    frame: Optional[FrameType] = sys._getframe(2)
    for _ in range(_DEPTH):
        if frame is None or arrays.recording.sites.is_user(frame.f_code.co_filename):
            break
        owner = frame.f_locals.get("self")
        if isinstance(owner, Parameter):
            return str(owner.name)
        frame = frame.f_back
    return ""
