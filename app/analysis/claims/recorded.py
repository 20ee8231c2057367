"""What several checks ask of a recorded run's report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.analysis.claims.shown import Shown
from app.analysis.devices import is_host
from runners.programs.verdicts import FAILS, HOLDS, Verdict

Row = Mapping[str, Any]


def hops(shown: Shown) -> list[Row]:
    """The copies between devices, and those from a device to itself."""
    return list(shown.report.get("hops") or ())


def ops(shown: Shown) -> list[Row]:
    """One row an op."""
    return list(shown.report.get("ops") or ())


def pinned(shown: Shown) -> str:
    """The device that a program with the option `device` uses: the last one where none was chosen."""
    return str(shown.options.get("device") or shown.devices[-1])


def times(rows: Iterable[Row]) -> int:
    """How many copies these are; one that was not counted is one."""
    return sum(row.get("count") or 1 for row in rows)


def size(rows: Iterable[Row]) -> int:
    """Their bytes in all; of unknown sizes nothing."""
    return sum((row.get("bytes") or 0) * (row.get("count") or 1) for row in rows)


def between(rows: Iterable[Row], src: str, dst: str) -> list[Row]:
    """Those from one device to another."""
    return [row for row in rows if (row.get("src"), row.get("dst")) == (src, dst)]


def among_devices(rows: Iterable[Row]) -> list[Row]:
    """Those from one device to another, the host being at neither end."""
    return [
        row
        for row in rows
        if row.get("src") != row.get("dst") and not is_host(str(row["src"])) and not is_host(str(row["dst"]))
    ]


def told(names: Iterable[object]) -> str:
    """`cpu:1`, `cpu:1 and cpu:2`, or `cpu:0, cpu:1 and cpu:2`: each once, in order."""
    parts = list(dict.fromkeys(map(str, names)))
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def judged(holds: bool, measured: str) -> Verdict:
    """The verdict that a claim holds by what was measured, or does not."""
    return Verdict(HOLDS if holds else FAILS, measured)
