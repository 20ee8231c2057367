"""What a tensor remembers of where it came from; marks are kept for good, so their ids may stand for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Mark = tuple[str, int, str, str, str]
"""(producer's op type, location, name, requested device, the device it was made on, '' if not noted).

A mark's device is only compared by identity, as a quick way to see that nothing crossed."""
KEPT_ON_HOST = ("int32", "string")
"""Types of tensors that functions take and return in host memory, whichever devices their ops run on."""
HANDING_ON = frozenset({"Identity", "Reshape", "Transpose", "ExpandDims", "Squeeze", "StopGradient"})
"""Ops whose output holds the values of their input and nothing else."""
openers: dict[Mark, str] = {}
"""Of what was made in a device scope that a library opened: the library's function that did."""
scopes_apart: dict[Mark, int] = {}
"""Of what was made in no scope, and in a thread of its own: the line of the scope of the thread beside it."""
of_calls: set[Mark] = set()
"""Marks of what traced functions returned."""
UNRECORDED: Mark = ("?", 0, "", "", "")
"""Of what was made while the recorder did not look."""
_kept: dict[Mark, Mark] = {UNRECORDED: UNRECORDED}
_NOTHING: Mapping[str, Any] = {}


def noted(tensor: Any, name: str) -> Any:
    """What the recorder noted on a tensor under this name; None where it noted nothing.

    `getattr` with a default would take microseconds there: a tensor makes up a message first.
    """
    return getattr(tensor, "__dict__", _NOTHING).get(name)


def mark(op_type: str, location: int, name: str, requested: str, device: str = "") -> Mark:
    """The one mark of these facts."""
    fresh = (op_type, location, name, requested, device)
    return _kept.setdefault(fresh, fresh)
