"""What a figure rests on, from the firmest to the weakest."""

from __future__ import annotations

from collections.abc import Iterable

BASES = ("measured", "estimated", "sampled", "inferred", "unknown")
"""``sampled`` is below ``estimated``: bytes follow from shapes, a sampled count only from other calls."""


def weakest(bases: Iterable[str]) -> str:
    """The least firm of some bases; ``unknown`` of none, and for one that has no name here."""
    known = [BASES.index(basis) if basis in BASES else len(BASES) - 1 for basis in bases]
    return BASES[max(known, default=BASES.index("unknown"))]
