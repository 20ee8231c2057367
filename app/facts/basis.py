"""What a figure rests on, from the firmest to the weakest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Figure = TypeVar("Figure", int, float)

BASES = ("measured", "estimated", "sampled", "inferred", "unknown")
"""``sampled`` is below ``estimated``: bytes follow from shapes, a sampled count only from other calls."""


def weakest(bases: Iterable[str]) -> str:
    """The least firm of some bases; ``unknown`` of none, and for one that has no name here."""
    known = [BASES.index(basis) if basis in BASES else len(BASES) - 1 for basis in bases]
    return BASES[max(known, default=BASES.index("unknown"))]


def total(parts: Iterable[Figure | None]) -> Figure | None:
    """The sum, None when a part is not known."""
    figures = list(parts)
    return None if None in figures else sum(part for part in figures if part is not None)
