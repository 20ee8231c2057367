"""A `gpu:i` is another GPU than was asked for, or has another number in nvidia-smi."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.device_order.detection import CODE, order_findings
from app.judgments.severity import WARNING

CAUSE = Cause(
    code=CODE,
    severity=WARNING,
    meaning="A `gpu:i` is another GPU than was asked for, or has another number in nvidia-smi.",
    detect=lambda run: order_findings(run.spec or {}, run.tables),
)
