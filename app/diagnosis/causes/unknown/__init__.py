"""The evidence does not decide."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.unknown import words
from app.judgments.severity import INFO

CAUSE = Cause(
    code="unknown",
    severity=INFO,
    meaning="The evidence does not decide.",
    summary=words.summary,
    because=words.because,
)
