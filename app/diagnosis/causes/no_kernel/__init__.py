"""The requested or default device has no kernel for the op and its type."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.no_kernel import words
from app.judgments.severity import WARNING

CAUSE = Cause(
    code="no-kernel",
    severity=WARNING,
    meaning="The requested or default device has no kernel for the op and its type.",
    sometimes="warning; note where the code asks for the host because of that",
    summary=words.summary,
    because=words.because,
    advice=words.advice,
)
