"""Which runs of the registry were made for which variant of a lesson."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from app.lessons.lesson import Lesson
from app.store.log import read_tail
from runners.catalogue import PROGRAMS
from runners.program import Variant
from runners.runs.registry import Run
from runners.runs.status import LIVE_STATES

_LAST_LINES = 20
_LONGEST_LINE = 300

Made = Mapping[tuple[str, str], list[Run]]
"""The runs by program and variant, newest first."""


def made_for_lessons(runs: Iterable[Run]) -> Made:
    """Sort out the runs that carry a lesson's mark; `runs` are newest first, as the registry has them."""
    made: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        mark = run.spec.get("lesson")
        if isinstance(mark, dict):
            made.setdefault((str(mark.get("program")), str(mark.get("variant"))), []).append(run)
    return made


def runs_of(made: Made, lesson: Lesson, variant: Variant) -> list[Run]:
    """The runs of a variant as it is defined now, newest first: not those that it was once defined by."""
    return [run for run in made.get((lesson.program, variant.name), ()) if _as_defined(run.spec, variant)]


def backing(runs: Iterable[Run]) -> Run | None:
    """The run that a verdict is based on: the newest of a variant's that finished."""
    return next((run for run in runs if run.state == "finished"), None)


def underway(runs: Iterable[Run]) -> Run | None:
    """The newest of a variant's runs that goes on, None where none does."""
    return next((run for run in runs if run.state in LIVE_STATES), None)


def why(run: Run) -> str | None:
    """Why a run is in its state; where it failed, with the last line that it printed. None: no reason."""
    state, reason = run.judge()
    if state != "failed":
        return reason
    lines = [line for line in read_tail(run.path, most_lines=_LAST_LINES).lines if line.strip()]
    return ": ".join([reason or state, *(line.strip()[:_LONGEST_LINE] for line in lines[-1:])])


def beside(run: Run, runs: Iterable[Run]) -> list[Run]:
    """Those of `runs` that went on at the same time as a run that ended."""
    start, end = run.started_at, run.ended_at
    if start is None or end is None:
        return []
    return [
        other
        for other in runs
        if other.id != run.id
        and (begun := other.started_at) is not None
        and begun < end
        and (begun + (other.took_s(time.time()) or 0.0)) > start
    ]


def _as_defined(spec: Mapping[str, Any], variant: Variant) -> bool:
    program = PROGRAMS.get(str(spec.get("name")))
    options = spec.get("options")
    if program is None or not isinstance(options, dict):
        return False
    if variant.stand_ins is not None and spec.get("stand_ins") != variant.stand_ins:
        return False
    if variant.devices is not None and spec.get("devices") != list(variant.devices):
        return False
    steps = program.default_steps if variant.steps is None else variant.steps
    if spec.get("steps") != steps:
        return False
    wanted = {option.name: option.default for option in program.options}
    wanted |= {name: program.option(name).parse(str(value)) for name, value in variant.options.items()}
    return all(options.get(name) == value for name, value in wanted.items())
