"""Parameters of replicas grow apart because nothing exchanges their gradients."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.replica_drift import words
from app.judgments.severity import ERROR

CAUSE = Cause(
    code="replica-drift",
    severity=ERROR,
    meaning="Parameters of replicas grow apart because nothing exchanges their gradients.",
    because=words.because,
    advice=words.advice,
    line_advice=words.line_advice,
)
