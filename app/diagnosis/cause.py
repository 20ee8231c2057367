"""A cause: everything about one reason for which something is slow, wrong or worth a note."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Cause:
    """One entry of `app.diagnosis.registry.CAUSES`; whatever is left out, the cause does without."""

    code: str
    severity: str
    """How bad it is where the facts say nothing else."""
    meaning: str
    """What it is reported for, in one or two sentences of docs/causes.md."""
    sometimes: str = ""
    """The severity in words, in docs/causes.md, where facts change it."""
