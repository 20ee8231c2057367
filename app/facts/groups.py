"""Rows by what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import TypeVar

Common = TypeVar("Common", bound=Hashable)
Row = TypeVar("Row")


def grouped(pairs: Iterable[tuple[Common, Row]]) -> dict[Common, list[Row]]:
    """The rows of each group, groups in the order in which they came first."""
    found: dict[Common, list[Row]] = {}
    for common, row in pairs:
        found.setdefault(common, []).append(row)
    return found


def summed(pairs: Iterable[tuple[Common, int | None]]) -> Counter[Common]:
    """The sum of each group's numbers, of which those that are not known count nothing."""
    found: Counter[Common] = Counter()
    for common, number in pairs:
        found[common] += number or 0
    return found
