"""What a missing device is judged by."""

from __future__ import annotations

import dataclasses

from app.judgments.evidence import Known, TransferEvidence


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of a device that the code asks for."""

    missing: Known[str] = None
    ran_on: Known[str] = None
    asked_in: Known[str] = None
    """Line of the scope that asks for it."""
    asked_at: list[str] | None = None
    ops: int | None = None
    raised: list[str] | None = None
    """MXNet's ops that did."""
    gpus: int | None = None
    """How many MXNet is shown."""
    build: str | None = None
