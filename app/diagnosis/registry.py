"""The causes, in the order in which docs/causes.md has them and their detectors run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.causes import (
    bounce,
    collective,
    colocation,
    default_device,
    device_order,
    explicit,
    gradient_outside_scope,
    host_memory,
    host_sync,
    host_upload,
    missing_device,
    mixed_context,
    no_kernel,
    reduce_on_host,
    redundant_copy,
    replica_drift,
    unbalanced,
    unknown,
    variable_home,
    xla_opaque,
)
from app.diagnosis.wording.evidence_facts import Facts
from app.judgments.finding import Finding

CAUSES = (
    explicit.CAUSE,
    default_device.CAUSE,
    gradient_outside_scope.CAUSE,
    variable_home.CAUSE,
    no_kernel.CAUSE,
    host_memory.CAUSE,
    colocation.CAUSE,
    host_sync.CAUSE,
    host_upload.CAUSE,
    redundant_copy.CAUSE,
    bounce.CAUSE,
    collective.CAUSE,
    reduce_on_host.CAUSE,
    unknown.CAUSE,
    mixed_context.CAUSE,
    replica_drift.CAUSE,
    device_order.CAUSE,
    xla_opaque.CAUSE,
    unbalanced.CAUSE,
    missing_device.CAUSE,
)
BY_CODE = {cause.code: cause for cause in CAUSES}
SEVERITY = {cause.code: cause.severity for cause in CAUSES}
"""How bad a cause is where the facts say nothing else."""


def because(finding: Finding) -> str:
    """Why the finding has its code, as a sentence; '' where its summary says all of it."""
    return BY_CODE[finding.code].because(Facts(finding.evidence))


def advice(code: str, evidence: Mapping[str, Any]) -> str | None:
    """What to change, for this cause; None where nothing is wrong or nothing is known."""
    return BY_CODE[code].advice(evidence)
