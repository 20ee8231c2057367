"""Names and values as they stand in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

MOST_NAMED = 4
"""Devices, or ways between them, that a sentence names before it counts them."""


def some_of(names: Iterable[str], what: str, last: str = " and ") -> str:
    """``a, b and c``: each name once; of many the first few and the number of the others, named `what`."""
    told = list(dict.fromkeys(names))
    if len(told) > MOST_NAMED:
        left = len(told) - MOST_NAMED + 1
        told = [*told[: MOST_NAMED - 1], f"{left} other {what}"]
        last = " and "
    return last.join(filter(None, (", ".join(told[:-1]), *told[-1:])))


def first_of(names: Iterable[str], most: int = 3) -> str:
    """``MatMul`` or ``MatMul, ReluGrad and 3 more``: each name once."""
    told = list(dict.fromkeys(filter(None, names)))
    return ", ".join(told[:most]) + (f" and {len(told) - most} more" if len(told) > most else "")


def each(value: Any) -> list[str]:
    """All values of a piece of evidence, which is one value or a list of them, as texts."""
    values = value if isinstance(value, list) else [value]
    return [str(item) for item in values if item]


def flat(value: Any) -> list[str]:
    """The same of what may be lists of several things, each value once."""
    parts = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(text for part in parts for text in each(part)))


def told(value: Any, what: str = "values", last: str = " and ") -> str:
    """The same in words, as `some_of` names them; '' for nothing."""
    return some_of(flat(value), what, last)


def one(value: Any) -> str:
    """The same as one text."""
    return ", ".join(each(value))


def alone(values: Sequence[Any]) -> Any:
    """As a piece of evidence: of one value it itself, of several their list."""
    return values[0] if len(values) == 1 else list(values)
