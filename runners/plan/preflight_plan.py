"""Planning a pre-flight: some steps of a script, without GPUs, to foresee a machine that has some."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from probes.trace.preflight import GPUS_VARIABLE, KERNELS_VARIABLE, SECONDS_VARIABLE, STEPS_VARIABLE
from runners.plan.plan import Plan
from runners.plan.script_plan import plan_script

STEPS = 3
SECONDS = 120.0
_BACKSTOP_S = 60.0
"""What a script gets to end by itself, and to import its framework, before its supervisor ends it."""


def plan_preflight(
    argv: Sequence[str],
    *,
    steps: int = STEPS,
    gpus: int = 0,
    seconds: float = SECONDS,
    framework: str | None = None,
    python: str | Path | None = None,
    cwd: str | Path | None = None,
    origin: str = "cli",
    module: bool = False,
    kernels: str = "",
) -> Plan:
    """Plan a run of any script or module that ends after its first step and `steps` more, or `seconds`.

    `gpus` is how many GPUs the foreseen machine has; 0 for as many as the script names. GPUs that are here
    are hidden from it, so that what it does here is the same everywhere. `kernels` says whose kernel table is
    at hand: a TensorFlow that has another with GPUs' writes its own.
    """
    plan = plan_script(
        argv, framework=framework, devices=["cpu:0"], python=python, cwd=cwd, origin=origin, module=module
    )
    return as_preflight(plan, steps=steps, gpus=gpus, seconds=seconds, kernels=kernels)


def as_preflight(
    plan: Plan, *, steps: int = STEPS, gpus: int = 0, seconds: float = SECONDS, kernels: str = ""
) -> Plan:
    """Make a pre-flight of a script's plan; that plan must be one that hides all GPUs."""
    env: dict[str, str | None] = {
        STEPS_VARIABLE: str(steps),
        SECONDS_VARIABLE: f"{seconds:g}",
        GPUS_VARIABLE: str(gpus),
        KERNELS_VARIABLE: kernels,
    }
    return dataclasses.replace(
        plan,
        env=plan.env | env,
        steps=steps,
        time_limit_s=seconds + _BACKSTOP_S,
        preflight={"steps": steps, "gpus": gpus, "seconds": seconds},
    )
