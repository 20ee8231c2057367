"""It was kept beside a variable, a table or an iterator."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.colocation import words
from app.judgments.severity import INFO

CAUSE = Cause(
    code="colocation",
    severity=INFO,
    meaning="It was kept beside a variable, a table or an iterator.",
    summary=words.summary,
    because=words.because,
    advice=words.advice,
)
