"""Bytes of the variables and eager tensors that are alive on each device: an estimate of memory in use.

For devices that can't say themselves (CPU devices share one pool). What a graph call holds while it
runs is not in it, nor tensors under 4 KiB.
"""

from __future__ import annotations

import weakref
from typing import Any, Dict, List, Optional

from ..trace.recording import Recording
from .names import short_device, tensor_bytes

SMALL = 4096


class LiveBytes:
    """Adds up by device; a tensor is added when it is made and taken off when it dies."""

    _of: "weakref.WeakKeyDictionary[Recording, LiveBytes]" = weakref.WeakKeyDictionary()

    def __init__(self) -> None:
        """Nothing is alive yet."""
        self.in_use: Dict[str, int] = {}
        self.peak: Dict[str, int] = {}

    @classmethod
    def of(cls, recording: Recording) -> "LiveBytes":
        """The one of this recording."""
        if recording not in cls._of:
            cls._of[recording] = cls()
        return cls._of[recording]

    def tensor(self, tensor: Any, op_type: str, attrs: Any) -> Optional["_Alive"]:
        """Count a new tensor; keep the result as long as the tensor lives. None for small ones."""
        if op_type == "VarHandleOp":
            size = _variable_bytes(attrs)
        elif op_type in ("ReadVariableOp", "Identity"):
            return None  # the variable's own memory again
        else:
            size = tensor_bytes(tensor)
        if size is None or size < SMALL:
            return None
        return _Alive(self, short_device(tensor.backing_device), size)


class _Alive:
    __slots__ = ("device", "owner", "size")

    def __init__(self, owner: LiveBytes, device: str, size: int) -> None:
        self.owner, self.device, self.size = owner, device, size
        total = owner.in_use.get(device, 0) + size
        owner.in_use[device] = total
        if total > owner.peak.get(device, 0):
            owner.peak[device] = total

    def __del__(self) -> None:
        self.owner.in_use[self.device] = self.owner.in_use.get(self.device, 0) - self.size


def _variable_bytes(attrs: Any) -> Optional[int]:
    fields: Dict[str, Any] = {}
    items: List[Any] = list(attrs or ())
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
