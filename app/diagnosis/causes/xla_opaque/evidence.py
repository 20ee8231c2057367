"""What a compiled function is judged by."""

from __future__ import annotations

import dataclasses

from app.judgments.evidence import FindingEvidence


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(FindingEvidence):
    """Of a function that XLA compiled."""

    function: str = ""
    how: str = ""
    ops: int | None
    calls: int
    op_executions_not_seen: int | None
    ran_on: list[str]
    requested_inside: list[str]
    not_followed: list[str]
    """Devices of those that were asked for in vain."""
    called_at: list[str]
