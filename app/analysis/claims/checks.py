"""Which check judges which program's claim."""

from __future__ import annotations

from collections.abc import Mapping

from app.analysis.claims.shown import Check, Shown
from app.store.verdicts import Verdict


def said(shown: Mapping[str, Shown]) -> list[Verdict]:
    """What the programs measured themselves, each sentence once."""
    return list(dict.fromkeys(verdict for one in shown.values() for verdict in one.said))


CHECKS: dict[str, Check] = {}
"""By program; of those that are not here, what they said themselves is the verdict."""


def judge(program: str, shown: Mapping[str, Shown]) -> list[Verdict]:
    """The verdicts on a program's claim by what its runs showed."""
    return CHECKS.get(program, said)(shown)
