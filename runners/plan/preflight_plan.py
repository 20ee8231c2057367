"""Planning a pre-flight: some steps of a script, without GPUs, to foresee a machine that has some."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from probes.trace.preflight import GPUS_VARIABLE, KERNELS_VARIABLE, SECONDS_VARIABLE, STEPS_VARIABLE
from runners.plan.plan import AS_USUAL, LaunchOptions, Plan
from runners.plan.script_plan import plan_script

STEPS = 3
SECONDS = 120.0
_BACKSTOP_S = 60.0
"""What a script gets to end by itself, and to import its framework, before its supervisor ends it."""


@dataclasses.dataclass(frozen=True)
class Extent:
    """How far a pre-flight goes, and for what machine."""

    steps: int = STEPS
    """After the first one."""
    gpus: int = 0
    """How many GPUs the foreseen machine has; 0 for as many as the script names."""
    seconds: float = SECONDS
    kernels: str = ""
    """Whose kernel table is at hand: a TensorFlow that has another with GPUs' writes its own."""


USUAL_EXTENT = Extent()


def plan_preflight(
    argv: Sequence[str],
    *,
    extent: Extent = USUAL_EXTENT,
    framework: str | None = None,
    cwd: str | Path | None = None,
    module: bool = False,
    launch: LaunchOptions = AS_USUAL,
) -> Plan:
    """Plan a run of any script or module that ends where its extent says.

    GPUs that are here are hidden from it, so that what it does here is the same everywhere.
    """
    plan = plan_script(argv, framework=framework, devices=["cpu:0"], cwd=cwd, module=module, launch=launch)
    return as_preflight(plan, extent)


def as_preflight(plan: Plan, extent: Extent = USUAL_EXTENT) -> Plan:
    """Make a pre-flight of a script's plan; that plan must be one that hides all GPUs."""
    env: dict[str, str | None] = {
        STEPS_VARIABLE: str(extent.steps),
        SECONDS_VARIABLE: f"{extent.seconds:g}",
        GPUS_VARIABLE: str(extent.gpus),
        KERNELS_VARIABLE: extent.kernels,
    }
    return dataclasses.replace(
        plan,
        env=plan.env | env,
        steps=extent.steps,
        time_limit_s=extent.seconds + _BACKSTOP_S,
        preflight={"steps": extent.steps, "gpus": extent.gpus, "seconds": extent.seconds},
    )
