"""The verdicts on a program's claim."""

from __future__ import annotations

import dataclasses
from typing import Any

HOLDS, FAILS, UNTESTABLE = "holds", "does not hold", "not testable here"
VERDICTS = (HOLDS, FAILS, UNTESTABLE)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One sentence on a claim."""

    verdict: str
    """One of `VERDICTS`."""
    text: str
    """The measurement with its spread, or why there is none."""

    def row(self) -> dict[str, Any]:
        """The row as the report has it."""
        return dataclasses.asdict(self)
