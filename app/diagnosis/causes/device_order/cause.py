"""A `gpu:i` is another GPU than was asked for, or has another number in nvidia-smi."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.judgments.severity import WARNING

CAUSE = Cause(
    code="device-order",
    severity=WARNING,
    meaning="A `gpu:i` is another GPU than was asked for, or has another number in nvidia-smi.",
)
