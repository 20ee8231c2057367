"""What an op that nobody placed is judged by."""

from __future__ import annotations

import dataclasses

from app.judgments.evidence import Known, TransferEvidence


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of ops on the default device."""

    result_of: Known[str] = None
    """Branch or loop that returns the value."""
    cut_on_host: Known[str] = None
    """Device on which the code cuts a batch for several devices."""
    of_python_data: Known[bool] = None
    scope_apart: Known[str] = None
    """Line of a scope that is open in another thread."""
    from_nothing: Known[str] = None
    """How far an array without a context is only made to be copied."""
    made_without_context: Known[list[str]] = None
    """MXNet's ops that make it."""
    made_at: Known[list[str]] = None
    copied_at: Known[str] = None
    also_unplaced: list[str] | None = None
    """Further lines that work with the same values and have no scope."""
