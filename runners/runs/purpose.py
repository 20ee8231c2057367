"""What a run was made for beside running: to foresee a machine with GPUs, or to try a fix of another run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from runners.runs.run import Run

PREFLIGHT, TRIES_A_FIX = "pre-flight", "tries a fix"


@dataclasses.dataclass(frozen=True)
class Tried:
    """The finding whose fix a run tries."""

    of: str
    """Id of the run that has it."""
    finding: str
    """``code@site``; '' where the spec does not say."""


def is_preflight(run: Run) -> bool:
    """Whether a run was made to foresee another."""
    return isinstance(run.spec.get("preflight"), Mapping)


def tried(run: Run) -> Tried | None:
    """What a run tries; None for one that tries nothing."""
    trial = run.spec.get("trial")
    if not isinstance(trial, Mapping) or not trial.get("of"):
        return None
    return Tried(str(trial["of"]), str(trial.get("finding") or ""))


def purpose(run: Run) -> str:
    """``pre-flight``, ``tries a fix``, or both; '' for a run that is just one."""
    words = [PREFLIGHT] * is_preflight(run) + [TRIES_A_FIX] * (tried(run) is not None)
    return ", ".join(words)
