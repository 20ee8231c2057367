"""What a needless copy is judged by."""

from __future__ import annotations

import dataclasses

from app.judgments.evidence import Known, TransferEvidence


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of copies of what is there already."""

    same_device: Known[str] = None
    copied_before: Known[str] = None
    """Device that has the copy already."""
    sent_again: Known[str] = None
    """How often one tensor is sent."""
    sent_from: list[str] | None = None
    """Lines that make it."""
