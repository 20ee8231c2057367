"""The inputs of an MXNet op lie on several contexts."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.mixed_context import words
from app.fixes.contexts.array_creators import of_mixed
from app.judgments.severity import ERROR

CAUSE = Cause(
    code="mixed-context",
    severity=ERROR,
    meaning=(
        "The inputs of an MXNet op lie on several contexts. CPU contexts read them in place silently; a"
        " CPU and a GPU together raise, by MXNet's source."
    ),
    because=words.because,
    advice=words.advice,
    line_advice=of_mixed,
)
