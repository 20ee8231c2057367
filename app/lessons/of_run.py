"""What a single run of a catalogued program comes to: its claim, judged as far as one run can judge it."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path

from app.lessons.catalogue import LESSONS
from app.lessons.verdict_cache import judged_by
from app.store.traced_devices import TRACE_FOLDER
from app.store.verdicts import read_verdicts
from app.views import units
from runners.errors import HopscopeError
from runners.programs.verdicts import Verdict
from runners.runs import run_files
from runners.runs.run import Run, read_run


@dataclasses.dataclass(frozen=True)
class RunClaim:
    """The verdicts of one run."""

    verdicts: tuple[Verdict, ...] = ()
    missing: str | None = None
    """What it takes to judge the claim, or why it could not be; None where this run did."""


NONE = RunClaim()


def claim_of(run: Run) -> RunClaim:
    """Return what a run says of its program's claim: its own words, and what its report shows.

    The report is made for it, which takes up to seconds, once. Nothing is claimed by a run of no program.
    """
    lesson = LESSONS.get(run.name) if run.spec.get("kind") == "program" else None
    if lesson is None:
        return NONE
    said = tuple(read_verdicts(run.path))
    if run.state != "finished":
        return RunClaim(said)
    needed = [variant.name for variant in lesson.variants if not variant.extra]
    if len(needed) > 1:
        names = ", ".join(needed)
        return RunClaim(said, f"the claim is judged by {units.plural(len(needed), 'run')} together: {names}")
    if not any(name.endswith(".jsonl") for name in _traces(run)):
        why = (
            None
            if lesson.catalogued.timed
            else "the claim is judged by what the recorder sees, and it was off"
        )
        return RunClaim(said, why)
    return _judged(run.path, needed[0], run.ended_at)


def _traces(run: Run) -> list[str]:
    try:
        return run_files.names(run.path, TRACE_FOLDER)
    except OSError:
        return []


@functools.lru_cache(maxsize=64)
def _judged(folder: Path, variant: str, ended: float | None) -> RunClaim:
    """What a run that ended shows, asked once: `ended` tells one run of a folder from another."""
    run = read_run(folder)
    try:
        return RunClaim(tuple(judged_by(run.name, {variant: run})))
    except HopscopeError as error:
        return RunClaim(tuple(read_verdicts(folder)), str(error))
