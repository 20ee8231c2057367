"""Where transfers start and end, as advice names the devices."""

from __future__ import annotations

from app.judgments.evidence import TransferEvidence
from app.views.naming import each


def source(evidence: TransferEvidence) -> str:
    """The devices that they start on."""
    return " and ".join(each(evidence.src)) or "its device"


def destination(evidence: TransferEvidence) -> str:
    """The devices that they end on."""
    return " and ".join(each(evidence.dst)) or "the device that uses it"
