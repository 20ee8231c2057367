"""What a lesson is: a program of the catalogue, the runs that its claim is judged by, and the advice."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from runners.catalogue import PROGRAMS
from runners.errors import HopscopeError
from runners.plan.plan import LaunchOptions, Plan
from runners.plan.program_plan import plan_program
from runners.program import Program, Variant

LONGEST_RUN_S = 1200.0
"""Seconds after which a lesson's run is ended, so that one that hangs does not keep all others waiting."""
ORIGIN = "lesson"


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
            launch=LaunchOptions(origin=ORIGIN, share=share),
            resume=resume,
        )
    except HopscopeError as error:
        raise HopscopeError(f"{lesson.program}, {variant.name}: {error}") from None
    mark = {"program": lesson.program, "variant": variant.name}
    limit = LONGEST_RUN_S if plan.time_limit_s is None else min(LONGEST_RUN_S, plan.time_limit_s)
    return dataclasses.replace(plan, lesson=mark, time_limit_s=limit)
