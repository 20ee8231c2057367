"""The lessons as they stand on this machine: verdicts, the runs behind them, and what is missing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from app.lessons import verdict_cache
from app.lessons.catalogue import chosen
from app.lessons.lesson import Lesson, plan_variant
from app.lessons.runs import backing, beside, made_for_lessons, runs_of, why
from runners.errors import HopscopeError
from runners.program import Variant
from runners.programs.verdicts import UNTESTABLE, Verdict
from runners.runs import registry
from runners.runs.registry import Run

NOT_RUN, RUNNING, JUDGED, FAILED = "not run", "running", "judged", "failed"
REFUSED = "refused"


@dataclasses.dataclass(frozen=True)
class LessonRun:
    """How one of a lesson's runs stands."""

    variant: str
    run: str | None
    """The id of the one that counts: the newest that finished, else the newest; None where none is."""
    state: str
    """starting, running, finished, failed, stopped, lost; or "not run", or "refused": see `reason`."""
    reason: str | None = None
    """Why it is so: how the run failed, or why this machine cannot run it."""
    newest: str | None = None
    """The id of a newer run than `run`, which goes on or did not finish; None where there is none."""
    devices: tuple[str, ...] = ()
    """Those of `run`, in order, as its report names them: ``worker:1/cpu:1`` where it had several processes;
    none where there is no run."""
    stand_ins: int | None = None
    """How many stand-ins `run` had; None where it had real devices, or there is no run."""


@dataclasses.dataclass(frozen=True)
class Judged:
    """One lesson, with the verdicts on its claim."""

    program: str
    title: str
    framework: str
    claim: str
    summary: str
    timed: bool
    """Whether the claim is about time, measured without the recorder and repeated."""
    advice: str
    """What to do in one's own code."""
    state: str
    """judged: `verdicts` are there, also while it is run again; running: one of its runs goes on; failed: one
    of them did not finish, `reason` says why; not run: at least one is missing."""
    reason: str | None
    verdicts: tuple[Verdict, ...]
    runs: tuple[LessonRun, ...]
    """One a variant."""
    note: str | None = None
    """What makes them doubtful: other runs went on while times were measured; None where nothing does."""

    def row(self) -> dict[str, Any]:
        """The lesson as plain data, for JSON."""
        return dataclasses.asdict(self)


def lessons(programs: Iterable[str] = ()) -> list[Judged]:
    """Return these lessons, all where none is named, as the registry's runs show them now.

    Verdicts that are not in the cache are judged on the way, which takes up to seconds a lesson.
    UsageError for a program that has no lesson.
    """
    wanted = chosen(programs)
    runs = registry.runs()
    return [judged(lesson, runs) for lesson in wanted]


def judged(lesson: Lesson, all_runs: Sequence[Run]) -> Judged:
    """Return one lesson as the registry's runs, newest first, show it."""
    made = made_for_lessons(all_runs)
    rows = []
    backed: dict[str, Run] = {}
    for variant in lesson.variants:
        runs = runs_of(made, lesson, variant)
        run = backing(runs)
        rows.append(_row(lesson, variant, runs, run))
        if run is not None:
            backed[variant.name] = run
    extra = {variant.name for variant in lesson.variants if variant.extra}
    needed = [row for row in rows if row.state != REFUSED or row.variant not in extra]
    refused = [row for row in needed if row.state == REFUSED]
    verdicts: list[Verdict] = []
    reason: str | None = None
    if refused:
        # One reason, an environment that lacks, often keeps all of them from being run.
        verdicts = list(dict.fromkeys(Verdict(UNTESTABLE, row.reason or "") for row in refused))
    elif all(row.variant in backed for row in needed):
        try:
            verdicts = verdict_cache.verdicts(lesson, backed)
            reason = None if verdicts else "its runs finished, and none of them showed a verdict"
        except HopscopeError as error:
            reason = str(error)
    state, told = _state(rows, bool(verdicts))
    program = lesson.catalogued
    return Judged(
        program=program.name,
        title=program.title,
        framework=program.framework,
        claim=program.claim,
        summary=program.summary,
        timed=program.timed,
        advice=lesson.advice,
        state=FAILED if reason else state,
        reason=reason or told,
        verdicts=tuple(verdicts),
        runs=tuple(rows),
        note=_crowd_note(backed.values(), all_runs) if program.timed and verdicts else None,
    )


def _crowd_note(backed: Iterable[Run], runs: Sequence[Run]) -> str | None:
    others = dict.fromkeys(other.id for run in backed for other in beside(run, runs))
    if not others:
        return None
    return f"times were measured while {', '.join(others)} went on; run the lesson again for better ones"


def _row(lesson: Lesson, variant: Variant, runs: list[Run], run: Run | None) -> LessonRun:
    shown = run or next(iter(runs), None)
    if shown is None:
        problem = problem_of(lesson, variant)
        return LessonRun(variant.name, None, REFUSED if problem else NOT_RUN, problem)
    state, reason = shown.state, why(shown)
    newest = runs[0].id if runs[0].id != shown.id else None
    devices, stand_ins = shown.spec.get("device_map"), shown.spec.get("stand_ins")
    if not isinstance(devices, dict) or not devices:
        devices = shown.spec.get("devices")
    return LessonRun(
        variant.name,
        shown.id,
        state,
        reason,
        newest,
        tuple(map(str, devices)) if isinstance(devices, (dict, list)) else (),
        stand_ins if isinstance(stand_ins, int) else None,
    )


def _state(rows: list[LessonRun], have_verdicts: bool) -> tuple[str, str | None]:
    if have_verdicts:
        return JUDGED, None
    if any(row.state in ("starting", "running") for row in rows):
        return RUNNING, None
    for row in rows:
        if row.state in ("failed", "lost"):
            return FAILED, f"{row.variant}: {row.reason or row.state}"
    return NOT_RUN, None


def problem_of(lesson: Lesson, variant: Variant) -> str | None:
    """Why this machine cannot run a variant, in one line; None where it can."""
    try:
        problems = plan_variant(lesson, variant, share=True).problems
    except HopscopeError as error:
        return str(error)
    return "; ".join(problems) or None
