"""How bad a finding is, in the order in which findings are reported."""

from __future__ import annotations

ERROR, WARNING, INFO = "error", "warning", "info"
RANK = {ERROR: 0, WARNING: 1, INFO: 2}
"""Severities in the order in which they are told."""


def is_loud(severity: str) -> bool:
    """Whether it is a warning or an error."""
    return RANK.get(severity, 9) < RANK[INFO]
