"""What replicas that drift apart are judged by."""

from __future__ import annotations

import dataclasses

from app.judgments.evidence import FindingEvidence, Known, Record


@dataclasses.dataclass(frozen=True, kw_only=True)
class Steps(Record):
    """The steps of the first and the last comparison."""

    first_check_step: int | None
    last_check_step: int | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Updates(Record):
    """The updates of each replica before them."""

    first_check_updates: int
    last_check_updates: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(FindingEvidence):
    """Of the comparisons of the replicas of one line."""

    devices: list[str]
    exchange: str
    parameters: int
    parameters_differing: int
    parameter_with_the_largest_difference: str | None
    first_check_largest_difference_ppb: int
    last_check_largest_difference_ppb: int
    checks: int
    between: Steps | Updates
    trainer_made_at: str | None = None
    variables_made_at: Known[str] = None
