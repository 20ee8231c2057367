"""A kernel, or the call of a function, keeps it in host memory."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.host_memory import words
from app.judgments.severity import INFO

CAUSE = Cause(
    code="host-memory",
    severity=INFO,
    meaning="A kernel, or the call of a function, keeps it in host memory.",
    summary=words.summary,
    because=words.because,
)
