"""Devices exchange or sum their tensors."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.collective import words
from app.judgments.severity import INFO

CAUSE = Cause(
    code="collective",
    severity=INFO,
    meaning="Devices exchange or sum their tensors.",
    summary=words.summary,
    because=words.because,
)
