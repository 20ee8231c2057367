"""What a program's plan starts: the script's words, and its stages and processes where it has several."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runners.cluster import Cluster
from runners.machine.gpus import Gpus
from runners.plan.device_choice import DeviceChoice, choose
from runners.plan.fitting_processes import MOST_PROCESSES, process_problems
from runners.plan.plan import RUN_PLACEHOLDER, ExactMode, recorder_env
from runners.plan.resuming import CHECKPOINTS
from runners.program import Program, Value
from runners.runs.registry import home
from runners.supervise.members import ONLY_MEMBER, ONLY_STAGE, Member, Stage

REPEATS = "repeats"
"""The option of a timed program that says how often it measures; recorded, it does so once."""
MEASURE, RECORD = "measure", "record"
NO_GPU = {"CUDA_VISIBLE_DEVICES": "-1"}


@dataclasses.dataclass(frozen=True)
class Script:
    """A program's script and the values that it is to run with."""

    program: Program
    python: Path
    values: Mapping[str, Value | None]
    given: frozenset[str]
    """The options that the user gave: only those are passed on."""
    steps: int | None
    """None where the script's own default is meant."""
    name_devices: bool
    """Whether the devices were named; stand-ins alone are all used by default."""

    def words(self, choice: DeviceChoice, fixed: Mapping[str, Value] | None = None) -> list[str]:
        """Return the words behind the interpreter; the options in `fixed` have those values instead."""
        fixed = fixed or {}
        words = [str(self.program.script)]
        if self.name_devices or choice.cards:
            names = (choice.own_names.get(name, name) for name in choice.names or [])
            words += ["--devices", ",".join(names)]
        if choice.stand_ins is not None:
            words += ["--stand-ins", str(choice.stand_ins)]
        if self.steps is not None:
            words += ["--steps", str(self.steps)]
        if self.program.checkpoints:
            words += ["--checkpoints", str(home().resolve() / "runs" / RUN_PLACEHOLDER / CHECKPOINTS)]
        launchers = self.program.cluster.options if self.program.cluster else frozenset()
        for option in self.program.options:
            value = fixed.get(option.name, self.values[option.name])
            wanted = option.name in self.given or option.name in fixed
            if wanted and value is not None and option.name not in launchers:
                shown = (
                    choice.own_names.get(str(value), str(value)) if option.type == "device" else str(value)
                )
                words += [f"--{option.name}", shown]
        return words


@dataclasses.dataclass(frozen=True)
class Processes:
    """The processes that share a run's devices, and which of them each one has."""

    of: Mapping[str, DeviceChoice]
    """By role and rank: `worker:0`."""
    problems: list[str]
    notes: list[str]

    def device_map(self) -> dict[str, dict[str, Any]]:
        """Return what each device is, by its name in the run: `worker:0/cpu:1`."""
        return {
            f"{process}/{device}": facts
            for process, choice in self.of.items()
            for device, facts in choice.map().items()
        }


def share_out(
    cluster: Cluster, values: Mapping[str, Value | None], choice: DeviceChoice, gpus: Gpus
) -> Processes:
    """Return which devices each process has: its own GPUs where there are enough, stand-ins for each."""
    shares = _shares(cluster.trainers(values), choice, gpus)
    names = {trainer: part.names or [] for trainer, part in shares.of.items()}
    return dataclasses.replace(shares, problems=shares.problems or process_problems(cluster, values, names))


def _shares(trainers: Sequence[str], choice: DeviceChoice, gpus: Gpus) -> Processes:
    alike = Processes(dict.fromkeys(trainers, choice), [], [])
    cards = [name for name in choice.names or [] if name.startswith("gpu:")]
    if not choice.names or len(trainers) == 1 or len(trainers) > MOST_PROCESSES:
        return alike
    if not cards:
        own = f"each of {', '.join(trainers)} has its own {', '.join(choice.names)}"
        return dataclasses.replace(alike, notes=[own])
    shown = ", ".join(cards)
    if len(cards) < len(trainers):
        return dataclasses.replace(alike, notes=[f"each of {', '.join(trainers)} uses {shown}"])
    each, rest = divmod(len(cards), len(trainers))
    if rest:
        words = f"{len(cards)} GPUs cannot be shared out evenly to {len(trainers)} processes: {shown}"
        return dataclasses.replace(alike, problems=[words])
    others = [name for name in choice.names or [] if name not in cards]
    parts = {
        trainer: choose([*cards[at * each : (at + 1) * each], *others], choice.stand_ins, gpus)
        for at, trainer in enumerate(trainers)
    }
    notes = [f"{trainer} gets {', '.join(part.names or [])}" for trainer, part in parts.items()]
    return Processes(parts, [], notes)


def plan_stages(
    script: Script, choice: DeviceChoice, processes: Processes | None, record: bool, exact: ExactMode
) -> tuple[Stage, ...]:
    """Return the stages of a run, () where it is just the one command; times are measured without `exact`."""
    if script.program.timed and record:
        bare = members(script, choice, processes, {}, _unrecorded(exact))
        seen = members(script, choice, processes, {REPEATS: 1}, {})
        return (
            Stage(MEASURE, bare, "without the recorder, which would take its own share of the time"),
            Stage(RECORD, seen, "measured without the recorder; now once more with it, to see why"),
        )
    if processes is None:
        return ()
    return (Stage(ONLY_STAGE, members(script, choice, processes, {}, {})),)


def members(
    script: Script,
    choice: DeviceChoice,
    processes: Processes | None,
    fixed: Mapping[str, Value],
    env: Mapping[str, str | None],
) -> tuple[Member, ...]:
    """Return the processes of one stage; `fixed` options and variables `env` hold for all of them."""
    cluster = script.program.cluster
    python = str(script.python)
    if cluster is None or processes is None:
        return (Member(ONLY_MEMBER, [python, *script.words(choice, fixed)], dict(env)),)
    shares = processes.of

    def words(name: str | None) -> tuple[Sequence[str], Mapping[str, str | None]]:
        if name is None:
            # It is told which devices the others have, and sees none of the GPUs itself.
            any_share = next(iter(shares.values()), choice)
            return script.words(any_share, fixed), {**(NO_GPU if choice.cards else {}), **env}
        return script.words(shares[name], fixed), {**shares[name].env, **env}

    return cluster.members(script.values, python, words)


def _unrecorded(exact: ExactMode) -> dict[str, str | None]:
    """Return what takes the recorder out again where the run's own variables bring it in."""
    without = recorder_env(record=False)
    changed: dict[str, str | None] = {
        name: os.environ.get(name) for name in recorder_env(True, exact) if name not in without
    }
    return changed | {name: value for name, value in without.items() if name == "HOPSCOPE_TRACE"}
