"""The causes, in the order in which docs/causes.md has them and their detectors run."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator
from typing import Any

from app.diagnosis.cause import Cause, Run
from app.diagnosis.wording.transfer_words import TransferWords
from app.judgments.evidence import FindingEvidence, TransferEvidence
from app.judgments.finding import Finding

_FOLDERS = """
explicit default_device gradient_outside_scope variable_home no_kernel host_memory colocation
host_sync host_upload redundant_copy bounce collective reduce_on_host unknown
mixed_context replica_drift device_order xla_opaque unbalanced missing_device
"""
CAUSES: tuple[Cause[Any], ...] = tuple(
    importlib.import_module(f"app.diagnosis.causes.{folder}.cause").CAUSE for folder in _FOLDERS.split()
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
