"""What a round trip is judged by."""

from __future__ import annotations

import dataclasses

from app.judgments.evidence import TransferEvidence


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of tensors that take the same path."""

    stations: list[str] = dataclasses.field(default_factory=list)
    """Devices, in the order of the path."""
    lines: list[str | None] = dataclasses.field(default_factory=list)
    """Line of each transfer on it."""
    by: list[str] = dataclasses.field(default_factory=list)
    """Ops, or Python, that hand the tensor on."""
    tensors: int = 0
    causes: list[str] = dataclasses.field(default_factory=list)
    """What each transfer would be by itself."""
    further_back_at: list[str | None] | None = None
    """Other lines at which tensors come back."""
    ways: list[list[str]] | None = None
    """Stations of each GPU in turn."""
    gradients_back_at: list[str | None] | None = None
    tensor_again_at: str | None = None
    """Line that makes a tensor of what Python read."""
    scopes: list[str] | None = None
