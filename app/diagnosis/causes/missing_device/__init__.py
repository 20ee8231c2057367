"""The requested device does not exist."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.missing_device import words
from app.fixes.scopes.nearest_device import named_at
from app.judgments.severity import WARNING

CAUSE = Cause(
    code="missing-device",
    severity=WARNING,
    meaning="The requested device does not exist. TensorFlow takes another one silently, MXNet raises.",
    sometimes="warning; error where it raised",
    summary=words.summary,
    because=words.because,
    advice=words.advice,
    line_advice=named_at,
)
