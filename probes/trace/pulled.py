"""Remembers the arrays that Python took from devices, so that one which is sent again is known as such."""

from __future__ import annotations

import weakref
from typing import Any, ClassVar, NamedTuple, Optional

_LEAST_BYTES = 64
"""Smaller ones are scalars, which programs take to print and compare."""
_VIEWS = 8


class Pulled(NamedTuple):
    """Where an array's values came from."""

    device: str
    loc: int
    """Location of the line that took them."""


class PulledArrays:
    """numpy arrays by identity, as long as they live; a view of one is known by its base."""

    _of: ClassVar[dict[int, PulledArrays]] = {}

    @classmethod
    def of(cls, recording: object) -> PulledArrays:
        """The one of a recording."""
        return cls._of.setdefault(id(recording), cls())

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Pulled]] = {}

    def took(self, array: Any, device: str, loc: int) -> None:
        """An array with the values of a device's tensor has come to Python, by the line `loc`."""
        if getattr(array, "nbytes", 0) <= _LEAST_BYTES:
            return
        number = id(array)
        known = self._known

        def gone(_: Any) -> None:
            known.pop(number, None)

        known[number] = (weakref.ref(array, gone), Pulled(device, loc))

    def origin(self, array: Any) -> Optional[Pulled]:
        """Where the values of an array come from, if they are such; its owner may have changed them since."""
        if not self._known:
            return None
        for _ in range(_VIEWS):
            if array is None:
                return None
            found = self._known.get(id(array))
            if found is not None and found[0]() is array:
                return found[1]
            array = getattr(array, "base", None)
        return None
