"""What a host read is judged by."""

from __future__ import annotations

import dataclasses

from app.judgments.evidence import HostReadEvidence, Known


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(HostReadEvidence):
    """Of values that Python reads, and of waits."""

    device: Known[str] = None
    """What Python waits for, where no transfer is known."""
    value_on: Known[str] = None
    """Where the value is, if another device makes it."""
    made_by: list[str] | None = None
    """Ops and lines."""
    handed_by: list[str] | None = None
    """Calls that hand the value to Python, and lines."""
    waits_by: list[str] | None = None
    """Calls that wait and read nothing."""
    on_a_gpu: Known[str] = None
    """Where a GPU would have the value."""
