"""Amounts for people: counts with their noun, and bytes with a unit."""

from __future__ import annotations

UNKNOWN = "?"
"""Stands for a number that nothing could observe."""

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def size(count: float | None) -> str:
    """Bytes with a binary unit, three significant digits: ``912 B``, ``1.20 MiB``, ``16 KiB``."""
    if count is None:
        return UNKNOWN
    value, unit = scaled(count)
    if unit == "B":
        return f"{value:,.0f} B"
    if value == int(value):
        return f"{value:,.0f} {unit}"
    return f"{value:,.{2 if abs(value) < 10 else 1 if abs(value) < 100 else 0}f} {unit}"


def scaled(count: float) -> tuple[float, str]:
    """The number and the unit it is best told in."""
    unit = size_unit(count)
    return count / 1024 ** _BINARY.index(unit), unit


def size_unit(largest: float) -> str:
    """The binary unit for an axis that ends at `largest` bytes."""
    exponent = 0
    while abs(largest) >= 1024 ** (exponent + 1) * 0.9995 and exponent < len(_BINARY) - 1:
        exponent += 1
    return _BINARY[exponent]


def size_factor(unit: str) -> int:
    """Bytes in one of this unit."""
    return int(1024 ** _BINARY.index(unit))


def count(number: int | None) -> str:
    """A whole number with thousands apart: ``12,000``."""
    return UNKNOWN if number is None else f"{number:,}"


def plural(number: int | None, noun: str, several: str = "") -> str:
    """``1 op``, ``12 ops``, ``? ops``; `several` is the plural where an s does not make it."""
    return f"{count(number)} {noun if number == 1 else several or noun + 's'}"
