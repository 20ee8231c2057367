"""What a program's claim comes to on this machine, said in its last lines.

    verdict holds: <what was measured>
    verdict does not hold: <what was measured>
    verdict not testable here: <why>. <what was measured all the same>

A sentence about a time gives the median of several repeats and their spread, as `Repeats` writes it.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Repeats(NamedTuple):
    """One figure, measured several times."""

    median: float
    least: float
    most: float

    def told(self, unit: str, scale: float = 1.0) -> str:
        """`12.3 ms (11.9..13.0)`; `scale` is how many of `unit` are in one of the figure's own."""
        median, least, most = (f"{value * scale:.3g}" for value in self)
        return f"{median} {unit} ({least}..{most})"

    def ms(self) -> str:
        """The figure in milliseconds, where it is in seconds."""
        return self.told("ms", 1000)

    def ratio(self) -> str:
        """The figure as how many times something else it is."""
        return self.told("times")


def repeats(values: Sequence[float]) -> Repeats:
    """The median and the spread of one figure's repeats."""
    return Repeats(statistics.median(values), min(values), max(values))


def say(holds: bool, measured: str) -> None:
    """Print that the claim holds, or does not."""
    print(f"verdict {'holds' if holds else 'does not hold'}: {measured}", flush=True)


def say_not_testable(why: str, measured: str) -> None:
    """Print why the claim cannot be measured on this machine, and what was measured all the same."""
    print(f"verdict not testable here: {why}. {measured}", flush=True)
