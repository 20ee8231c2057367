"""What rows of things that went unseen are about."""

from __future__ import annotations

from probes.trace.rows import BY_XLA, Unseen

_BY_XLA = BY_XLA.partition(" (")[0]
"""Of all that XLA compiled. Other reasons quote messages and attributes of ops, which may name XLA too."""


def inside(row: Unseen) -> str:
    """The function whose ops went unseen, ``step``; '' for what is about no function."""
    mark = "ops inside "
    return row.what.removeprefix(mark).partition(", ")[0] if row.what.startswith(mark) else ""


def by_xla(row: Unseen) -> bool:
    """Whether it went unseen because XLA compiled it."""
    return row.why.startswith(_BY_XLA)
