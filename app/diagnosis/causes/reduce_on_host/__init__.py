"""Gradients are summed in host memory."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.judgments.severity import WARNING

CAUSE = Cause(
    code="reduce-on-host",
    severity=WARNING,
    meaning="Gradients are summed in host memory.",
)
