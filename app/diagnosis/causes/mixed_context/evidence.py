"""What inputs on several contexts are judged by."""

from __future__ import annotations

import dataclasses

from app.judgments.evidence import FindingEvidence


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(FindingEvidence):
    """Of the ops of one line."""

    ops: list[str] = dataclasses.field(default_factory=list)
    ran_on: list[str] = dataclasses.field(default_factory=list)
    inputs_also_on: list[str] = dataclasses.field(default_factory=list)
    read_in_place: int = 0
    """Executions that read inputs on other devices."""
    raised: int = 0
    bytes: int = 0
    made_on_default: list[str] | None = None
    """Ops that make inputs without a context."""
    made_on_default_at: list[str] | None = None
    inputs_made_by: list[str] | None = None
    inputs_made_at: list[str] | None = None

    @property
    def devices(self) -> set[str]:
        """Where the ops ran and their inputs are."""
        return {*self.ran_on, *self.inputs_also_on}
