"""What was judged of a transfer: a cause's code with its evidence, as a record."""

from __future__ import annotations

import dataclasses
from typing import Any

from app.judgments.evidence import TransferEvidence


@dataclasses.dataclass(frozen=True)
class Judgment:
    """Why something happened, how bad that is, and what it was judged by."""

    code: str
    severity: str
    evidence: TransferEvidence
    blames: str = "consumer"
    """Whose line is to be changed: consumer or producer."""
    at: str | None = None
    """That line, where it is neither the consumer's nor the producer's own."""

    def knowing(self, **facts: Any) -> Judgment:
        """The same with more evidence."""
        return dataclasses.replace(self, evidence=dataclasses.replace(self.evidence, **facts))
