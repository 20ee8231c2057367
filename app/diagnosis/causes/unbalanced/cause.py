"""Memory differs much between devices, or a GPU was given and ran nothing."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.unbalanced.detection import CODE, balance_findings
from app.diagnosis.wording.evidence_labels import Label
from app.judgments.severity import WARNING

CAUSE = Cause(
    code=CODE,
    severity=WARNING,
    meaning="Memory differs much between devices, or a GPU was given and ran nothing.",
    advice="Share the work out anew: the same part of the batch or of the layers to each device.",
    detect=lambda run: balance_findings(run.spec or {}, run.tables),
    labels={"ops": Label("Distinct ops")},
)
