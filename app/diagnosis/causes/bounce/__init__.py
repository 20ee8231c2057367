"""One tensor makes a round trip, or crosses the host to a third device."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.bounce import words
from app.diagnosis.wording import function_scopes
from app.judgments.severity import WARNING

CAUSE = Cause(
    code="bounce",
    severity=WARNING,
    meaning=(
        "One tensor makes a round trip, or crosses the host to a third device, through ops that only move"
        " or reshape it, or through numpy where a checksum shows that nothing changed it. It is reported"
        " once, in place of its hops."
    ),
    because=words.because,
    advice=words.advice,
    line_advice=function_scopes.line_advice,
)
