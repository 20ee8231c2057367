"""What was tried on a run's findings: the runs that were launched to see whether a change is rid of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.web.shared.places import run_link
from runners.runs.purpose import tried
from runners.runs.run import Run

MOST_SHOWN = 3


def tries_of(run_id: str, runs: Iterable[Run]) -> dict[str, list[dict[str, Any]]]:
    """The last few tries of each finding of a run, by the finding's name, with links; `runs` newest first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        trial = tried(run)
        if trial is not None and trial.of == run_id:
            told = {"text": run.id, "state": run.state, "href": run_link(run.id)}
            found.setdefault(trial.finding, []).append(told)
    return {name: tries[:MOST_SHOWN] for name, tries in found.items()}
