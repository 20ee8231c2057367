"""What is constant for an op at a line on a device: one look-up an op, and the rest is made only once."""

from __future__ import annotations

from typing import Optional

from .copied_again import writes_inputs
from .marks import Mark, Moved, Origin
from .op_names import MOVERS
from .tape import COPIES, Forward


class Entry:
    """An op at a line on a device: its key, and the marks of what it makes."""

    __slots__ = ("apart", "copies", "forward", "key", "made_from", "mark", "marks", "moves", "name", "writes")

    def __init__(self, name: str, key: int, mark: Mark) -> None:
        self.name = name
        self.key = key
        self.mark = mark
        self.copies = name in COPIES
        self.moves = name in MOVERS
        self.writes = writes_inputs(name)
        self.apart = self.copies or self.writes
        self.forward = Forward(name, mark.loc, mark.device)
        self.marks: dict[tuple[int, str, Optional[Origin], Optional[Moved]], Mark] = {}
        """By size in bytes, device, origin and what was only moved."""
        self.made_from: dict[Mark, Mark] = {}
        """What it made of an input; asking for the size each time would cost more than the op's record."""
