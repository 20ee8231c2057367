"""What a sum on the host is judged by."""

from __future__ import annotations

import dataclasses

from app.judgments.evidence import ExchangeEvidence, Known


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(ExchangeEvidence):
    """Of gradients that are summed in host memory."""

    handed_back_at: Known[list[str]] = None
    """Lines that use the sum on the devices."""
    applied_at: Known[list[str]] = None
    """Lines that change the host's variables by it."""
