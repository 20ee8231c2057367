"""What is known of an array: who made it, where, how large it is, and whose value it still is."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

GRADIENT = "gradient"
"""What made the values of an array that MXNet hands out as another one's gradient."""


class Origin(NamedTuple):
    """Where what is on the host came from, by a copy that the code called."""

    device: str
    loc: int
    """Location of the copy."""
    others: tuple[str, ...] = ()
    """Devices of what it was put together with there."""


Moved = tuple[str, int]
"""(device, location of the copy) of what is, unchanged, what a copy brought from another device."""


class Mark:
    """Who made an array, where it lives, and what it holds; one for all arrays that are alike in that."""

    __slots__ = (
        "_view",
        "base",
        "bytes",
        "device",
        "filled",
        "loc",
        "moved",
        "op",
        "origin",
        "requested",
        "sent",
        "total",
    )

    def __init__(
        self,
        op: str,
        loc: int,
        device: str,
        requested: str = "",
        size: int = 0,
        total: Optional[Any] = None,
    ) -> None:
        """`total` is the [in use, peak] of the device that `size` bytes are counted in."""
        self.op = op
        self.loc = loc
        self.device = device
        self.requested = requested
        self.bytes = size
        self.total: list[int] = total if total is not None else [0, 0]
        self.origin: Optional[Origin] = None
        """For an array of the host: whose value it waits for, because it was copied from there."""
        self.moved: Optional[Moved] = None
        """For what a copy brought, or only another shape of that: where from."""
        self.filled = False
        """One of them got new values in its place, or may get them without being seen."""
        self.sent: Optional[dict[Any, Any]] = None
        """For the mark of one array alone: what is known of its copies to other devices."""
        self._view: Optional[Mark] = None
        self.base: Optional[Mark] = None
        """For a view: the mark of what it is a view of."""

    def holding(
        self,
        origin: Optional[Origin],
        moved: Optional[Moved],
        size: int = 0,
        total: Optional[list[int]] = None,
        device: str = "",
    ) -> Mark:
        """Return a new mark of the same op and line for what holds these values, by default on its device."""
        mark = Mark(self.op, self.loc, device or self.device, self.requested, size, total)
        mark.origin = origin
        mark.moved = moved
        return mark

    def view(self) -> Mark:
        """The same for an array that shares the memory: it holds nothing itself."""
        if self._view is None:
            self._view = self.holding(self.origin, self.moved)
            self._view.base = self.base or self
        return self._view

    def of_one(self) -> Mark:
        """The same for one array alone, until it gets new values."""
        mark = self.holding(self.origin, self.moved, self.bytes, self.total)
        mark.base, mark.sent = self.base, {}
        if self._view is not None:
            mark.view()  # one of those views may be of it
        return mark

    def shared(self) -> bool:
        """Whether arrays like it share their memory with others: it is a view, or has some."""
        return self.base is not None or self._view is not None

    def overwritten(self) -> None:
        """One of them got new values: those that share its memory, which nobody knows, got them too."""
        for mark in (self.base, self.base and self.base._view, self, self._view):
            if mark is not None:
                mark.moved = None
                mark.filled = True
