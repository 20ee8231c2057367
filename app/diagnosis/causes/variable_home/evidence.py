"""What a variable far from where it is read is judged by."""

from __future__ import annotations

import dataclasses

from app.judgments.evidence import Known, TransferEvidence


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of reads of variables."""

    rows: Known[bool] = None
    """Only rows are looked up."""
    kept_by: Known[str] = None
    """Strategy that keeps the variable where it is."""
    created_at: Known[str] = None
    created_in: Known[str] = None
    """Device of the scope there."""
    created_alone: Known[bool] = None
    """That line creates one variable only."""
    object_made_at: Known[str] = None
    """Line that makes the object whose constructor creates it."""
    gradient_goes_back: Known[bool] = None
    unchanged_again: Known[bool] = None
    one_reader_each: bool | None = None
    """Several devices read variables, each of them other ones."""
    changed_at: list[str] | None = None
    """Lines that change it by ops that nobody placed."""
