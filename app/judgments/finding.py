"""A finding: one thing that a user should know."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app.judgments.evidence import FindingEvidence
from app.judgments.severity import is_loud


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing to know, with what it costs and what to do."""

    code: str
    severity: str
    site: str | None
    summary: str
    evidence: FindingEvidence
    fix: str | None
    hops: tuple[int, ...]
    """Row numbers in the hop table."""
    recurs: bool = False
    """It happens every step (or call)."""
    bytes_known: int = 0
    """Bytes that it moved in the whole run, as far as known."""
    cost_ns: int = 0
    """What findings are ranked by: time that Python stood still, and that copying takes."""
    unseen: bool = False
    """It tells what could not be seen, not what happened."""
    shares: Mapping[int, int] = dataclasses.field(default_factory=dict)
    """Row -> how many of its transfers are this finding's, where others are not."""
    consequences: tuple[int, ...] = ()
    """Rows beside `hops` that the mistake has as well, whose own causes say nothing of it."""

    @property
    def loud(self) -> bool:
        """Whether it is a warning or an error."""
        return is_loud(self.severity)

    @property
    def rows(self) -> tuple[int, ...]:
        """All rows that it tells of."""
        return self.hops + self.consequences

    def row(self) -> dict[str, Any]:
        """The row as the report has it."""
        row = {name: getattr(self, name) for name in ("code", "severity", "site", "summary", "fix")}
        return {**row, "evidence": self.evidence.row(), "hops": list(self.rows)}
