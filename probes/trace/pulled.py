"""Remembers the arrays that Python took from devices, so that one which is sent again is known as such."""

from __future__ import annotations

import weakref
from typing import Any, ClassVar, NamedTuple, Optional

from .fingerprints import fingerprint
from .schema import HopFacts

_SCALARS_BYTES = 64
"""Up to there arrays are scalars, which programs take to print and compare."""
_VIEWS = 8


class Pulled(NamedTuple):
    """Where an array's values came from."""

    device: str
    loc: int
    """Location of the line that took them."""
    changed: bool = False
    """Python's code changed them since, in place."""

    @property
    def facts(self) -> HopFacts:
        """What a transfer's key says of it."""
        return {"changed_from": self.device} if self.changed else {"pulled_from": self.device}


class PulledArrays:
    """numpy arrays by identity, as long as they live; a view of all of one is known by its base."""

    _of: ClassVar[dict[int, PulledArrays]] = {}
    above: ClassVar[int] = _SCALARS_BYTES
    """Bytes that an array must have more of to be remembered."""

    @classmethod
    def remember_scalars(cls, also: bool) -> None:
        """Whether from now on also the smallest are remembered, as where what they do is forbidden."""
        cls.above = 0 if also else _SCALARS_BYTES

    @classmethod
    def of(cls, recording: object) -> PulledArrays:
        """The one of a recording."""
        return cls._of.setdefault(id(recording), cls())

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Pulled, int]] = {}

    def took(self, array: Any, device: str, loc: int) -> None:
        """An array with the values of a device's tensor has come to Python, by the line `loc`."""
        if getattr(array, "nbytes", 0) <= self.above:
            return
        values = fingerprint(array)
        if values is None:
            return
        number = id(array)
        known = self._known

        def gone(_: Any) -> None:
            known.pop(number, None)

        known[number] = (weakref.ref(array, gone), Pulled(device, loc), values)

    def origin(self, array: Any) -> Optional[Pulled]:
        """Where the values of an array come from; None for those that did not come from a device.

        A part of what came is other data, and so is all of it backwards.
        """
        if not self._known:
            return None
        base = array
        for _ in range(_VIEWS):
            if base is None:
                return None
            found = self._known.get(id(base))
            if found is not None and found[0]() is base:
                _, pulled, values = found
                if not _is_all(array, base):
                    return None
                return pulled if fingerprint(base) == values else pulled._replace(changed=True)
            base = getattr(base, "base", None)
        return None


def _is_all(view: Any, base: Any) -> bool:
    """Whether an array is all of the one it is a view of; its axes may have another order."""
    if view is base:
        return True
    return bool(view.nbytes == base.nbytes and min(view.strides, default=0) >= 0)
