"""What the reader has picked; every view of a run marks it in its own way."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Selection:
    """Empty fields mean nothing is picked."""

    group: str = ""
    """Id of a group of the placement diagram."""
    crossing: str = ""
    """Id of a crossing of the placement diagram."""
    hops: frozenset[int] = frozenset()
    """Rows of the hop table."""
    pair: tuple[str, str] | None = None
    """A cell of the matrix: (source, destination)."""

    def __bool__(self) -> bool:
        """Whether anything is picked."""
        return bool(self.group or self.crossing or self.hops or self.pair)
