"""Memory differs much between devices, or a GPU was given and ran nothing."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.judgments.severity import WARNING

CAUSE = Cause(
    code="unbalanced",
    severity=WARNING,
    meaning="Memory differs much between devices, or a GPU was given and ran nothing.",
    advice="Share the work out anew: the same part of the batch or of the layers to each device.",
)
