"""What a program's claim is judged by: what its runs showed, and what several checks ask of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from runners.device_names import is_host
from runners.programs.verdicts import FAILS, HOLDS, Verdict

Row = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Shown:
    """One finished run of a program, one of the variants that its claim is judged by."""

    variant: str
    options: Mapping[str, Any]
    """All of the program's options by name; None where the program chose. Devices as in `devices`."""
    devices: tuple[str, ...]
    """Those that the program was given, in order: cpu:1, cpu:2. A GPU by its number in the process, as in the
    report, where the first is gpu:0 whichever card that is."""
    stand_ins: int | None
    """How many devices of the host played GPUs; None where real ones were used."""
    report: Mapping[str, Any]
    """The run's report, version 1, with one row an op."""
    named: tuple[str, ...] = ()
    """The devices as the launch named them, in the same order: a GPU by its number in nvidia-smi."""

    @property
    def said(self) -> list[Verdict]:
        """What the program itself measured and said of its claim."""
        return [Verdict(row["verdict"], row["text"]) for row in self.report.get("verdicts") or ()]


Check = Callable[[Mapping[str, Shown]], list[Verdict]]
"""Judges a program's claim by its runs, by variant: each variant of its lesson is there."""


def said(shown: Mapping[str, Shown]) -> list[Verdict]:
    """What the programs measured themselves, each sentence once."""
    return list(dict.fromkeys(verdict for one in shown.values() for verdict in one.said))


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


def join(names: Iterable[object]) -> str:
    """`cpu:1`, `cpu:1 and cpu:2`, or `cpu:0, cpu:1 and cpu:2`: each once, in order."""
    parts = list(dict.fromkeys(map(str, names)))
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def judged(holds: bool, measured: str) -> Verdict:
    """The verdict that a claim holds by what was measured, or does not."""
    return Verdict(HOLDS if holds else FAILS, measured)
