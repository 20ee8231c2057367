"""Backward ops ran outside the device scope of their forward ops."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.gradient_outside_scope import words
from app.judgments.severity import WARNING

CAUSE = Cause(
    code="gradient-outside-scope",
    severity=WARNING,
    meaning="Backward ops ran outside the device scope of their forward ops.",
    summary=words.summary,
    because=words.because,
    advice=words.advice,
    line_advice=words.line_advice,
)
