"""XLA compiled a function, so nothing inside has a placement of its own."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.xla_opaque import words
from app.judgments.severity import WARNING

CAUSE = Cause(
    code="xla-opaque",
    severity=WARNING,
    meaning="XLA compiled a function, so nothing inside has a placement of its own. It is reported first.",
    sometimes="warning where device scopes inside were ignored",
    because=words.because,
    advice=words.advice,
)
