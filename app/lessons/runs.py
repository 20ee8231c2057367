"""Which runs of the registry were made for which variant of a lesson."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.lessons.lesson import Lesson, Variant
from runners.catalogue import PROGRAMS
from runners.registry import Run
from runners.status import LIVE_STATES

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
