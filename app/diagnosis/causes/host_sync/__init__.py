"""Python waited for a value or took it, also one that the host computes from what a GPU sends."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.host_sync import line_advice, words
from app.judgments.severity import WARNING

CAUSE = Cause(
    code="host-sync",
    severity=WARNING,
    meaning="Python waited for a value or took it, also one that the host computes from what a GPU sends.",
    sometimes="warning if it recurs",
    summary=words.summary,
    because=words.because,
    advice=words.advice,
    line_advice=line_advice.line_advice,
)
