"""What a program's claim comes to on this machine, said in its last lines.

    verdict holds: <what was measured>
    verdict does not hold: <what was measured>
    verdict not testable here: <why>. <what was measured all the same>

A sentence about a time gives the median of several repeats and their spread, as `Repeats` writes it.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from typing import NamedTuple

NEGLIGIBLE = 0.05
"""The share by which two times may differ and be called the same."""
MOST = 0.75
"""The share of the repeats that must agree: on a machine with other work some are always off."""


class Repeats(NamedTuple):
    """One figure, measured several times."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The figure to go by."""
        return statistics.median(self.values)

    def share_above(self, limit: float) -> float:
        """Which share of the repeats, 0..1, gave more than `limit`."""
        return sum(value > limit for value in self.values) / len(self.values)

    def told(self, unit: str, scale: float = 1.0) -> str:
        """`12.3 ms (11.9..13)`, the lowest and the highest; `scale` is how many of `unit` make one.

        What was measured only once has no spread, and says so.
        """
        scaled = [value * scale for value in (self.median, min(self.values), max(self.values))]
        median, least, most = (f"{one:.3g}" if one < 1000 else f"{one:,.0f}" for one in scaled)
        return f"{median} {unit} ({f'{least}..{most}' if len(self.values) > 1 else once()})"

    def ms(self) -> str:
        """The figure in milliseconds, where it is in seconds."""
        return self.told("ms", 1000)

    def ratio(self) -> str:
        """The figure as how many times something else it is."""
        return self.told("times")


def once() -> str:
    """How one that was not repeated is told: beside a recorder, that is another thing than a measurement."""
    return "once, while recorded" if os.environ.get("HOPSCOPE_TRACE") == "1" else "once"


def say(holds: bool, measured: str) -> None:
    """Print that the claim holds, or does not."""
    print(f"verdict {'holds' if holds else 'does not hold'}: {measured}", flush=True)


def decide(holds: bool, fails: bool, measured: str) -> None:
    """Print that the claim holds, or that it fails; and where the repeats show neither, that."""
    if holds or fails:
        say(holds, measured)
    else:
        say_not_testable(
            "the repeats do not agree; with more of them, or on an idle machine, they may", measured
        )


def say_longer(times: Sequence[Repeats], measured: str, crowded: str | None = None) -> None:
    """Print whether one thing takes longer than each of some others; `times` says how many times as long.

    It holds where the median says so by more than NEGLIGIBLE, and most repeats agree. It fails where no
    repeat says so by that much, for one of the others. Else the machine was too busy to tell. Where it is
    `crowded`, which says why things could not go on side by side, it does not fail.
    """
    limit = 1 + NEGLIGIBLE
    holds = all(one.median > limit and one.share_above(1) >= MOST for one in times)
    fails = any(one.share_above(limit) == 0 for one in times)
    if crowded and not holds:
        say_not_testable(crowded, measured)
    else:
        decide(holds, fails, measured)


def say_not_testable(why: str, measured: str) -> None:
    """Print why the claim cannot be measured on this machine, and what was measured all the same."""
    print(f"verdict not testable here: {why}. {measured[:1].upper()}{measured[1:]}", flush=True)
