"""Bytes of the variables and eager tensors that are alive on each device: an estimate of memory in use.

For devices that can't say themselves (CPU devices share one pool). What a graph call holds while it
runs is not in it, nor tensors under 4 KiB.
"""

from __future__ import annotations

import weakref
from typing import Any, ClassVar, Optional

from ..trace.recording import Recording
from .names import short_device

SMALL = 4096
SMALL_ELEMENTS = 512
"""A tensor of fewer elements is small whatever its type; asked first because it is cheap to ask."""
Total = list[int]
"""[bytes in use, most bytes ever in use] of a device."""
_SIZES = {1: 4, 2: 8, 3: 4, 4: 1, 5: 2, 6: 1, 8: 8, 9: 8, 10: 1, 14: 2, 17: 2, 18: 16, 19: 2, 22: 4, 23: 8}
"""Bytes an element by TensorFlow's DataType (types.proto): float, double, int32, uint8, int16, ..."""


class LiveBytes:
    """Adds up by device; a tensor is added when it is made and taken off when it dies."""

    _of: ClassVar[weakref.WeakKeyDictionary[Recording, LiveBytes]] = weakref.WeakKeyDictionary()

    def __init__(self) -> None:
        """Nothing is alive yet."""
        self.totals: dict[str, Total] = {}
        self._totals: dict[str, Total] = {}

    @classmethod
    def of(cls, recording: Recording) -> LiveBytes:
        """The one of this recording."""
        if recording not in cls._of:
            cls._of[recording] = cls()
        return cls._of[recording]

    def tensor(self, tensor: Any, full_device: str, elements: int) -> Optional[_Alive]:
        """Count a new tensor; keep the result as long as the tensor lives. None for small ones."""
        size = elements * _SIZES.get(tensor._datatype_enum(), 0)
        return _Alive(self._total(full_device), size) if size >= SMALL else None

    def variable(self, attrs: Any, full_device: str) -> Optional[_Alive]:
        """Count a variable by the attributes of the op that made its handle."""
        size = _variable_bytes(attrs)
        return _Alive(self._total(full_device), size) if size else None

    def _total(self, full_device: str) -> Total:
        total = self._totals.get(full_device)
        if total is None:
            total = self._totals[full_device] = self.totals.setdefault(short_device(full_device), [0, 0])
        return total


class _Alive:
    __slots__ = ("size", "total")

    def __init__(self, total: Total, size: int) -> None:
        self.total, self.size = total, size
        total[0] += size
        total[1] = max(total[1], total[0])

    def __del__(self) -> None:
        self.total[0] -= self.size


def _variable_bytes(attrs: Any) -> Optional[int]:
    fields: dict[str, Any] = {}
    items: list[Any] = list(attrs or ())
    for position in range(0, len(items) - 1, 2):
        name = items[position]
        fields[name.decode() if isinstance(name, bytes) else name] = items[position + 1]
    try:
        from tensorflow.python.framework import dtypes, tensor_shape

        shape = tensor_shape.TensorShape(fields["shape"])
        count = shape.num_elements()
        return None if count is None else int(count) * int(dtypes.as_dtype(fields["dtype"]).size)
    except (KeyError, TypeError, ValueError):
        return None
