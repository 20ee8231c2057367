"""Going on with a run that ended, from its last checkpoint: whether it can be, and what is taken over."""

from __future__ import annotations

import dataclasses
import fnmatch
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from probes import private_files
from runners import catalogue
from runners.program import Program, Value
from runners.runs import registry, run_files
from runners.runs.run import Run

CHECKPOINTS = "checkpoints"
"""The folder, in that of the run, where a program that saves itself does so."""


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What a launch is asked for; None and an empty mapping where it is not said."""

    devices: Sequence[str] | None = None
    stand_ins: int | None = None
    steps: int | None = None
    options: Mapping[str, Value] = dataclasses.field(default_factory=dict)


def resumable(run: Run) -> str | None:
    """Return why a run cannot be resumed, in one line; None where it can be."""
    return _not_saved(run) or (
        f"{run.id} has finished all its steps; with more of them, --steps, it can be gone on with"
        if run.state == "finished"
        else None
    )


def saves_itself(run: Run) -> bool:
    """Return whether a run is of a program that saves checkpoints."""
    program = _program(run)
    return program is not None and program.checkpoints is not None


def last_checkpoint(run: Run) -> int | None:
    """Return the step of a run's newest whole checkpoint, None where it has none."""
    program = _program(run)
    if program is None or program.checkpoints is None:
        return None
    kept = program.checkpoints
    number = re.compile("([0-9]+)".join(map(re.escape, kept.whole.split("*"))))
    return max((int(match[1]) for match in map(number.fullmatch, _saved(run)) if match), default=None)


def take_over(program: Program, name: str | Path, wanted: Wanted) -> tuple[Run, Wanted, list[str]]:
    """Return the run to go on with, what a launch gets that does, and why it cannot; one line each.

    What was not asked for is as it was in that run. UsageError where there is no such run.
    """
    run = registry.find(name)
    if run.name != program.name:
        return run, wanted, [f"{run.id} is a run of {run.name}, so {program.name} cannot go on with it"]
    # More steps than it finished are something to go on to.
    reason = resumable(run) if wanted.steps is None else _not_saved(run)
    if reason:
        return run, wanted, [reason]
    known = {option.name: option for option in program.options}
    before = {key: value for key, value in (run.spec.get("options") or {}).items() if key in known}
    changed = {key: value for key, value in before.items() if value not in (None, known[key].default)}
    devices, stand_ins = wanted.devices, wanted.stand_ins
    if devices is None and stand_ins is None:
        devices, stand_ins = run.spec.get("devices"), run.spec.get("stand_ins")
        if devices == [f"cpu:{number}" for number in range(1, (stand_ins or 0) + 1)]:
            devices = None
    steps = wanted.steps or run.spec.get("steps")
    got = Wanted(devices, stand_ins, steps, {**changed, **wanted.options})
    return run, got, _contradictions(program, run, got, before)


def copy_checkpoints(run: Run, target: Path) -> None:
    """Copy what a run saved into the folder of another, which may be there already. OSError passes.

    Links among it are left out: the run may come from somebody else.
    """
    program = _program(run)
    to = target / CHECKPOINTS
    private_files.make_folder(str(to))
    patterns = program.checkpoints.files if program and program.checkpoints else ()
    for name in _saved(run):
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            with run_files.open_file(run.path, f"{CHECKPOINTS}/{name}") as source:
                copy = private_files.open_file(str(to / name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                with os.fdopen(copy, "wb") as file:
                    shutil.copyfileobj(source, file)


def _saved(run: Run) -> list[str]:
    """Return the names of the files that a run saved."""
    try:
        found = run_files.names(run.path, CHECKPOINTS)
    except OSError:
        return []
    return [name for name in found if run_files.is_file(run.path, f"{CHECKPOINTS}/{name}")]


def _program(run: Run) -> Program | None:
    return catalogue.PROGRAMS.get(run.name) if run.spec.get("kind") == "program" else None


def _not_saved(run: Run) -> str | None:
    program = _program(run)
    if program is None or program.checkpoints is None:
        return f"{run.name} saves no checkpoints to go on from"
    if not run.ended:
        return f"{run.id} has not ended: stop it, or wait for its end"
    if last_checkpoint(run) is None:
        return f"{run.id} ended before its first checkpoint was whole, so there is nothing to go on from"
    return None


def _contradictions(program: Program, run: Run, got: Wanted, before: Mapping[str, Value]) -> list[str]:
    problems = []
    for name in program.checkpoints.same if program.checkpoints else ():
        if name in got.options and str(got.options[name]) != str(before.get(name)):
            problems.append(
                f"{name}={got.options[name]} is not possible: {run.id}, which is gone on with, has "
                f"{name}={before.get(name)}"
            )
    last = last_checkpoint(run)
    if last is not None and got.steps is not None and got.steps <= last:
        problems.append(
            f"--steps {got.steps} are over already: the last checkpoint of {run.id} is of step {last}"
        )
    return problems
