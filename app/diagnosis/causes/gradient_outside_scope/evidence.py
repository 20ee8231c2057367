"""What gradients outside their scope are judged by."""

from __future__ import annotations

import dataclasses

from app.judgments.evidence import Known, TransferEvidence
from app.views.naming import each, flat


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of backward ops that run elsewhere than their forward ops."""

    forward_requested: Known[str] = None
    """Device that the code asked for, for the forward op of the consumer."""
    producer_forward_requested: Known[str] = None
    forward_op: Known[str] = None
    gradients_of: Known[list[str]] = None
    """Devices of all gradients of the line."""
    forward_at: list[str] | None = None

    @property
    def forward_devices(self) -> list[str]:
        """The devices of the forward ops."""
        return [*each(self.forward_requested), *each(self.producer_forward_requested)]

    @property
    def gradient_devices(self) -> list[str]:
        """The devices that the line's gradients belong to, also those of gradients that are there already."""
        return list(dict.fromkeys([*self.forward_devices, *flat(self.gradients_of)]))
