"""Parameters of replicas grow apart because nothing exchanges their gradients."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.judgments.severity import ERROR

CAUSE = Cause(
    code="replica-drift",
    severity=ERROR,
    meaning="Parameters of replicas grow apart because nothing exchanges their gradients.",
)
