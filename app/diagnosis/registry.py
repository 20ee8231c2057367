"""The causes, in the order in which docs/causes.md has them and their detectors run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from app.diagnosis.cause import Cause, Run
from app.diagnosis.causes.bounce.cause import CAUSE as BOUNCE
from app.diagnosis.causes.collective.cause import CAUSE as COLLECTIVE
from app.diagnosis.causes.colocation.cause import CAUSE as COLOCATION
from app.diagnosis.causes.default_device.cause import CAUSE as DEFAULT_DEVICE
from app.diagnosis.causes.device_order.cause import CAUSE as DEVICE_ORDER
from app.diagnosis.causes.explicit.cause import CAUSE as EXPLICIT
from app.diagnosis.causes.gradient_outside_scope.cause import CAUSE as GRADIENT_OUTSIDE_SCOPE
from app.diagnosis.causes.host_memory.cause import CAUSE as HOST_MEMORY
from app.diagnosis.causes.host_sync.cause import CAUSE as HOST_SYNC
from app.diagnosis.causes.host_upload.cause import CAUSE as HOST_UPLOAD
from app.diagnosis.causes.missing_device.cause import CAUSE as MISSING_DEVICE
from app.diagnosis.causes.mixed_context.cause import CAUSE as MIXED_CONTEXT
from app.diagnosis.causes.no_kernel.cause import CAUSE as NO_KERNEL
from app.diagnosis.causes.reduce_on_host.cause import CAUSE as REDUCE_ON_HOST
from app.diagnosis.causes.redundant_copy.cause import CAUSE as REDUNDANT_COPY
from app.diagnosis.causes.replica_drift.cause import CAUSE as REPLICA_DRIFT
from app.diagnosis.causes.unbalanced.cause import CAUSE as UNBALANCED
from app.diagnosis.causes.unknown.cause import CAUSE as UNKNOWN
from app.diagnosis.causes.variable_home.cause import CAUSE as VARIABLE_HOME
from app.diagnosis.causes.xla_opaque.cause import CAUSE as XLA_OPAQUE
from app.diagnosis.wording.transfer_words import TransferWords
from app.judgments.evidence import FindingEvidence, TransferEvidence
from app.judgments.finding import Finding

CAUSES: tuple[Cause[Any], ...] = (
    EXPLICIT,
    DEFAULT_DEVICE,
    GRADIENT_OUTSIDE_SCOPE,
    VARIABLE_HOME,
    NO_KERNEL,
    HOST_MEMORY,
    COLOCATION,
    HOST_SYNC,
    HOST_UPLOAD,
    REDUNDANT_COPY,
    BOUNCE,
    COLLECTIVE,
    REDUCE_ON_HOST,
    UNKNOWN,
    MIXED_CONTEXT,
    REPLICA_DRIFT,
    DEVICE_ORDER,
    XLA_OPAQUE,
    UNBALANCED,
    MISSING_DEVICE,
)
BY_CODE = {cause.code: cause for cause in CAUSES}
SEVERITY = {cause.code: cause.severity for cause in CAUSES}
"""How bad a cause is where the facts say nothing else."""


def because(finding: Finding) -> str:
    """Why the finding has its code, as a sentence; '' where its summary says all of it."""
    cause = BY_CODE[finding.code]
    return cause.because(finding.evidence) if isinstance(finding.evidence, cause.evidence) else ""


def advice(code: str, evidence: FindingEvidence) -> str | None:
    """What to change, for this cause; None where nothing is wrong or nothing is known."""
    said = BY_CODE[code].advice
    return said(evidence) if callable(said) else said


def summary(code: str, words: TransferWords, evidence: TransferEvidence) -> str:
    """Transfers of this cause in a sentence, without their cost and the full stop."""
    said = BY_CODE[code].summary
    return said(words, evidence) if callable(said) else words.say(said)


def detected(run: Run) -> Iterator[Finding]:
    """What the causes' own detectors find."""
    for cause in CAUSES:
        for found in cause.detect(run):
            fix = advice(cause.code, found.evidence) if found.fix is None else found.fix
            yield dataclasses.replace(found, fix=fix)
