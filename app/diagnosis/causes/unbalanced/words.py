"""What is said of work that is shared out unequally."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def advice(evidence: Mapping[str, Any]) -> str:
    """To share it out anew."""
    return "Share the work out anew: the same part of the batch or of the layers to each device."
