"""A cause: everything about one reason for which something is slow, wrong or worth a note."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.transfer_words import UNDECIDED, Crossing
from app.fixes.situation import Situation


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
    summary: str | Callable[[Crossing], str] = UNDECIDED
    """Transfers of the cause in a sentence, without their cost and the full stop; see `Crossing.say`."""
    because: Callable[[Facts], str] = lambda facts: ""
    """What a finding was judged by, in a sentence; '' where its summary says all of it."""
    advice: str | Callable[[Mapping[str, Any]], str | None] | None = None
    """What to change, by the evidence; None where nothing is wrong or nothing is known."""
    line_advice: Callable[[Situation, str], str | None] = lambda situation, said: said
    """The advice in place of that one, by what the finding's line does; None where nothing fits."""
