"""Gradients are summed in host memory."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.reduce_on_host import words
from app.judgments.severity import WARNING

CAUSE = Cause(
    code="reduce-on-host",
    severity=WARNING,
    meaning="Gradients are summed in host memory.",
    summary=words.summary,
    because=words.because,
    advice=words.advice,
)
