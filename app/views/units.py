"""Numbers for people: always with a unit, never with more digits than they deserve."""

from __future__ import annotations

import math

from runners.amounts import UNKNOWN, count, plural, scaled, size, size_factor, size_unit

__all__ = [
    "TIMES",
    "UNKNOWN",
    "count",
    "duration",
    "energy",
    "estimated",
    "percent",
    "plural",
    "rate",
    "relative",
    "scaled",
    "short",
    "size",
    "size_factor",
    "size_unit",
    "times",
    "transfer",
]

TIMES = "\N{MULTIPLICATION SIGN}"


def times(number: int | None) -> str:
    """How often: ``300x``; a million and more as ``1.2Mx`` (with a real multiplication sign)."""
    if number is None:
        return f"{UNKNOWN}{TIMES}"
    return f"{short(number)}{TIMES}"


def short(number: int) -> str:
    """A count in few characters: ``9,999``, ``12.3k``, ``1.2M``."""
    for factor, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= max(10_000, factor * 0.9995):
            return (
                f"{number / factor:.3g}{letter}"
                if number < factor * 999.5
                else f"{number // factor:,}{letter}"
            )
    return f"{number:,}"


def transfer(total: int | None, number: int | None, known: int = 0) -> str:
    """Bytes and count of transfers in one breath: ``1.20 MiB · 300x``; a lower bound as ``≥ 64 KiB``."""
    if total is None and number is None and not known:
        return UNKNOWN
    if total is None and known:
        return f"≥ {size(known)} · {times(number)}"
    return f"{size(total)} · {times(number)}"


_SHORTEST_S = 1e-6
"""Where copying is estimated from what larger copies took: a single call takes as long."""


_TIMES = ((1e-9, "ns", 999.5), (1e-6, "µs", 999.5), (1e-3, "ms", 999.5), (1.0, "s", 59.95))


def duration(seconds: float | None) -> str:
    """A time with the unit that fits: ``312 ns``, ``4.2 ms``, ``1 min 05 s``, ``2 h 03 min``."""
    if seconds is None:
        return UNKNOWN
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds == 0:
        return "0 s"
    for factor, unit, most in _TIMES:
        if seconds < factor * most:
            return f"{_significant(seconds / factor)} {unit}"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def estimated(seconds: float | None) -> str:
    """A time that was estimated: ``4.2 ms``; of what is too short for that, ``less than 1 µs``."""
    return "less than 1 µs" if seconds is not None and 0 < seconds < _SHORTEST_S else duration(seconds)


def rate(steps_per_second: float | None) -> str:
    """Training speed: ``31.2 steps/s``."""
    if steps_per_second is None or not math.isfinite(steps_per_second):
        return f"{UNKNOWN} steps/s"
    return f"{_significant(steps_per_second)} steps/s"


def energy(joules: float) -> str:
    """Joules, from a hundred thousand on in watt-hours: ``812 J``, ``45.2 kJ``, ``1.3 kWh``."""
    for factor, unit, most in ((1.0, "J", 1e3), (1e3, "kJ", 1e5), (3.6e3, "Wh", 3.6e6)):
        if joules < most * 0.9995:
            return f"{_significant(joules / factor)} {unit}"
    return f"{_significant(joules / 3.6e6)} kWh"


def percent(fraction: float | None) -> str:
    """A share: ``42 %``; under ten percent with one decimal."""
    if fraction is None:
        return f"{UNKNOWN} %"
    value = fraction * 100
    return f"{value:.1f} %" if 0 < abs(value) < 9.95 else f"{value:.0f} %"


def relative(parts_per_billion: int) -> str:
    """A relative difference in parts per billion: ``12 ppb``, ``3.4 ppm``, ``0.12 %``, ``35 %``."""
    if parts_per_billion < 1_000:
        return f"{parts_per_billion} ppb" if parts_per_billion else "0"
    if parts_per_billion < 100_000:
        return f"{_significant(parts_per_billion / 1_000)} ppm"
    return f"{_significant(parts_per_billion / 10_000_000)} %"


def _significant(value: float) -> str:
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
