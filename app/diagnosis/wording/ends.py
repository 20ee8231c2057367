"""Where transfers start and end, as advice names the devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.views.naming import each


def source(evidence: Mapping[str, Any]) -> str:
    """The devices that they start on."""
    return " and ".join(each(evidence.get("src"))) or "its device"


def destination(evidence: Mapping[str, Any]) -> str:
    """The devices that they end on."""
    return " and ".join(each(evidence.get("dst"))) or "the device that uses it"
