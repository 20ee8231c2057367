"""The code named both devices."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.explicit import words
from app.judgments.severity import INFO

CAUSE = Cause(
    code="explicit",
    severity=INFO,
    meaning="The code named both devices.",
    summary=words.summary,
    because=words.because,
)
