"""What a tensor remembers of where it came from; marks are kept for good, so their ids may stand for them."""

from __future__ import annotations

Mark = tuple[str, int, str, str, str]
"""(producer's op type, location, name, requested device, the device it was made on, '' if not noted).

A mark's device is only compared by identity, as a quick way to see that nothing crossed."""
_kept: dict[Mark, Mark] = {}


def mark(op_type: str, location: int, name: str, requested: str, device: str = "") -> Mark:
    """The one mark of these facts."""
    fresh = (op_type, location, name, requested, device)
    return _kept.setdefault(fresh, fresh)
