"""What a tensor remembers of where it came from; marks are kept for good, so their ids may stand for them."""

from __future__ import annotations

Mark = tuple[str, int, str, str]
"""(producer's op type, location, name, requested device)."""
_kept: dict[Mark, Mark] = {}


def mark(op_type: str, location: int, name: str, requested: str) -> Mark:
    """The one mark of these facts."""
    fresh = (op_type, location, name, requested)
    return _kept.setdefault(fresh, fresh)
