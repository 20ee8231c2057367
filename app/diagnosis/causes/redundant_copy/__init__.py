"""A copy to the device where the tensor already is, or of the same tensor again and again."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.redundant_copy import words
from app.judgments.severity import WARNING

CAUSE = Cause(
    code="redundant-copy",
    severity=WARNING,
    meaning="A copy to the device where the tensor already is, or of the same tensor again and again.",
    summary=words.summary,
    because=words.because,
    advice=words.advice,
)
