"""What a lesson is: a program of the catalogue, the runs that its claim is judged by, and the advice."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from runners.catalogue import PROGRAMS, Program, Value
from runners.errors import HopscopeError
from runners.plan.plan import Plan
from runners.plan.program_plan import plan_program

LONGEST_RUN_S = 1200.0
"""Seconds after which a lesson's run is ended, so that one that hangs does not keep all others waiting."""
ORIGIN = "lesson"


@dataclasses.dataclass(frozen=True)
class Variant:
    """One run that a claim needs."""

    name: str
    options: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    """What differs from the program's defaults."""
    stand_ins: int | None = None
    """How many stand-ins it is always run on; None: on GPUs where there are enough, else on stand-ins."""
    steps: int | None = None
    """None where the program's own default is meant."""
    devices: tuple[str, ...] | None = None
    """Those that it must have, in order; None where any will do."""
    resumes: str | None = None
    """The variant, before this one, from whose last checkpoint it goes on; None where it begins anew."""
    extra: bool = False
    """Whether the claim is judged without it too, where this machine cannot run it."""


@dataclasses.dataclass(frozen=True)
class Lesson:
    """One program's lesson."""

    program: str
    variants: tuple[Variant, ...]
    advice: str
    """What to do in one's own code, in one or two sentences."""

    @property
    def catalogued(self) -> Program:
        """The program as the catalogue has it."""
        return PROGRAMS[self.program]


def plan_variant(
    lesson: Lesson, variant: Variant, *, share: bool = False, resume: Path | None = None
) -> Plan:
    """Plan the run of a variant, marked as the lesson's; why it cannot be run here is in its `problems`.

    With `share` it is no problem that another run uses the GPUs at the moment. `resume` is the folder of the
    run to go on with, for a variant that resumes another; it may be left out to ask for problems only.
    """
    try:
        plan = plan_program(
            lesson.program,
            devices=variant.devices,
            stand_ins=variant.stand_ins,
            steps=variant.steps,
            options=variant.options,
            origin=ORIGIN,
            share=share,
            resume=resume,
        )
    except HopscopeError as error:
        raise HopscopeError(f"{lesson.program}, {variant.name}: {error}") from None
    mark = {"program": lesson.program, "variant": variant.name}
    limit = LONGEST_RUN_S if plan.time_limit_s is None else min(LONGEST_RUN_S, plan.time_limit_s)
    return dataclasses.replace(plan, lesson=mark, time_limit_s=limit)
