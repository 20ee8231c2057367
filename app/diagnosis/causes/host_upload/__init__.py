"""Python or numpy data was sent to a device."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.host_upload import words
from app.judgments.severity import INFO

CAUSE = Cause(
    code="host-upload",
    severity=INFO,
    meaning="Python or numpy data was sent to a device.",
    sometimes="note; warning where measured uploads take a quarter of the run",
    summary=words.summary,
    because=words.because,
    advice=words.advice,
    line_advice=words.line_advice,
)
