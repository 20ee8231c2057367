"""What is said of what XLA compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.wording.evidence_facts import Facts


def because(facts: Facts) -> str:
    """What was asked for inside of what XLA compiled."""
    asked = facts.told("requested_inside", "devices")
    if not asked:
        return ""
    ran = facts.told("ran_on", "devices")
    return f"Requested inside: {asked}; XLA makes one kernel of it all, which runs on {ran}."


def advice(evidence: Mapping[str, Any]) -> str:
    """How to look inside."""
    return (
        "To look inside, run it with jit_compile=False: device scopes count then, and each op runs by itself"
        " where it is placed, slower and with more memory than what XLA fused."
    )
