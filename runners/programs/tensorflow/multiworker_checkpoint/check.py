"""The check of the claim of tf-multiworker-checkpoint."""

from __future__ import annotations

from collections.abc import Mapping

from runners.programs.evidence import Shown, said
from runners.programs.verdicts import Verdict

_RESUMED, _NOT_RESUMED = "resumed at step", "nothing was resumed"


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """What the program says; that the first run resumed nothing is no news where another one did."""
    found = said(shown)
    if not any(verdict.text.startswith(_RESUMED) for verdict in found):
        return found
    return [verdict for verdict in found if not verdict.text.startswith(_NOT_RESUMED)]
