"""What a lesson's runs showed: that from which a claim is judged."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from runners.programs.verdicts import Verdict


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
