"""Planning a run of a catalogued program."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from runners import catalogue
from runners.catalogue import Program, Value
from runners.environments import builds
from runners.environments.frameworks import FRAMEWORKS
from runners.errors import UsageError
from runners.machine.cuda_order import may_use
from runners.machine.gpus import Gpus, known_gpus
from runners.plan.device_choice import DeviceChoice, choose
from runners.plan.fitting import program_notes, program_problems
from runners.plan.plan import (
    AS_USUAL,
    ROOT,
    LaunchOptions,
    Plan,
    choose_exact,
    choose_interpreter,
    cpu_build_words,
    held_problems,
    judge_cards,
    recorder_env,
)
from runners.plan.resuming import Wanted, last_checkpoint, take_over
from runners.plan.stage_plan import Processes, Script, plan_stages, share_out
from runners.runs import leases
from runners.runs.registry import home


def plan_program(
    name: str,
    *,
    devices: Sequence[str] | None = None,
    stand_ins: int | None = None,
    steps: int | None = None,
    options: Mapping[str, Value] | None = None,
    resume: str | Path | None = None,
    launch: LaunchOptions = AS_USUAL,
) -> Plan:
    """Plan a run of a catalogued program. UsageError for an unknown one; all else is in `problems`.

    `resume` names a run of it, by id or folder, from whose last checkpoint this one is to go on.
    """
    program = catalogue.program(name)
    problems: list[str] = []
    # A keyword of the framework's own, work_load_list, is the option work-load-list.
    options = {name.replace("_", "-"): value for name, value in (options or {}).items()}
    resumed, notes = None, list[str]()
    if resume is not None:
        wanted = Wanted(devices, stand_ins, steps, options)
        resumed, wanted, refused = take_over(program, resume, wanted)
        devices, stand_ins, steps, options = (
            wanted.devices,
            wanted.stand_ins,
            wanted.steps,
            dict(wanted.options),
        )
        problems += refused
        last = None if refused else last_checkpoint(resumed)
        notes += [] if last is None else [f"goes on from step {last} of {resumed.id}"]
    values = _values(program, options, problems)
    if steps is not None and steps < 1:
        problems.append(f"--steps {steps} is not possible: it takes a whole number of at least 1")
    interpreter = choose_interpreter(program.framework, launch.python)
    problems += [interpreter.problem] if interpreter.problem else []
    gpus = known_gpus()
    choice = choose(devices, stand_ins, gpus)
    if choice.names is None and not choice.problems:
        choice = _default_devices(program, values, gpus, interpreter.build, launch.share)
    problems += choice.problems
    refused, warned = judge_cards(program.framework, choice.cards, interpreter)
    problems += refused
    if not choice.problems:
        problems += program_problems(program, choice.names or [], values)
    if interpreter.problem is None:
        problems += [line for need in program.needs for line in need(values, interpreter.python)]
    if not program.script.is_file():
        problems.append(f"the program's script {program.script} is missing")

    mode = choose_exact(program.framework, launch.exact, launch.record)
    problems += mode.problems
    given = frozenset(options or {})
    script = Script(program, interpreter.python, values, given, steps, name_devices=devices is not None)
    processes = share_out(program.cluster, values, choice, gpus) if program.cluster else None
    if processes is not None and not choice.problems:
        problems += processes.problems
    return Plan(
        kind="program",
        name=program.name,
        framework=program.framework,
        command=[str(interpreter.python), *script.words(choice)],
        env=recorder_env(launch.record, mode) | choice.env,
        cwd=ROOT,
        python=interpreter.python,
        devices=choice.names,
        stand_ins=choice.stand_ins,
        steps=steps if steps is not None else program.default_steps,
        options=values,
        problems=problems + held_problems(choice.cards, launch.share),
        unready=interpreter.problem if interpreter.installable else None,
        notes=notes
        + program_notes(program, values, _shares(processes, choice))
        + choice.notes
        + (processes.notes if processes else [])
        + warned
        + mode.notes,
        device_map=processes.device_map() if processes else choice.map(),
        cards=choice.cards,
        share=launch.share,
        origin=launch.origin,
        warning=program.cluster.warning if program.cluster else None,
        stages=plan_stages(script, choice, processes, launch.record, mode),
        time_limit_s=program.cluster.limit_s(values) if program.cluster else None,
        resumes=resumed,
    )


def _shares(processes: Processes | None, choice: DeviceChoice) -> list[list[str]]:
    """Return the devices of each process that computes."""
    choices = [choice] if processes is None else processes.of.values()
    return [one.names or [] for one in choices]


def _values(program: Program, given: Mapping[str, Value], problems: list[str]) -> dict[str, Value | None]:
    """Return all options of the program with their values; what is wrong with `given` goes to `problems`."""
    values: dict[str, Value | None] = {option.name: option.default for option in program.options}
    for name, value in given.items():
        try:
            values[name] = program.option(name).parse(str(value))
        except UsageError as error:
            problems.append(str(error))
    return values


def _default_devices(
    program: Program, values: Mapping[str, Value | None], gpus: Gpus, build: str | None, share: bool
) -> DeviceChoice:
    """Return free GPUs where there are enough, else stand-ins, with a note that says so."""
    wanted = [value for name, value in values.items() if program.option(name).type == "device" and value]
    cluster = program.cluster
    each = len(cluster.trainers(values)) if cluster and cluster.own_gpus else 1
    count, least = program.default_devices * each, max(1, program.min_devices) * each
    framework = FRAMEWORKS[program.framework]
    shown = may_use(gpus, os.environ)
    visible = builds.usable_cards(framework, shown)
    stand_ins_wanted = any(str(name).startswith("cpu:") for name in wanted)
    if len(visible) >= least and build != "cpu" and not stand_ins_wanted:
        named = [card for card in visible if card.device in wanted]
        others = [card for card in visible if card not in named]
        free = [card for card in others if share or not leases.holders(home(), card.uuid)]
        # Without enough free cards it still gets the least it needs, and the plan says who holds them.
        taken = [card for card in others if card not in free]
        count = max(least, min(count, (len(free) + len(named)) // each * each))
        picked = (free + taken)[: max(0, count - len(named))] + named
        choice = choose([card.device for card in picked], None, gpus)
        choice.notes.insert(0, f"no devices were named, so it gets {', '.join(choice.names or [])}")
        return choice
    choice = choose(None, program.default_devices, gpus)
    names = ", ".join(choice.names or [])
    told = (
        f"{names} are stand-ins that play GPUs"
        if program.default_devices > 1
        else f"{names} is a stand-in that plays a GPU"
    )
    if not visible:
        refused = "; ".join(builds.refusals(framework, shown))
        why = refused or gpus.problem or "CUDA_VISIBLE_DEVICES hides the GPUs"
        choice.notes.append(f"no GPU to use here: {why}; {told}")
    elif build != "cpu" and len(visible) < least and each > 1:
        few = "1 GPU is" if len(visible) == 1 else f"{len(visible)} GPUs are"
        choice.notes.append(f"{few} too few for {each} processes with one each; {told}")
    elif build == "cpu":
        choice.notes.append(f"{cpu_build_words(program.framework)}; {told}")
    else:
        choice.notes.append(told)
    return choice
