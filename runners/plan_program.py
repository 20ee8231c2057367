"""Planning a run of a catalogued program."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from runners import catalogue, leases
from runners.catalogue import Program, Value
from runners.devices import DeviceChoice, choose
from runners.errors import UsageError
from runners.fitting import program_problems
from runners.gpus import Gpus, known_gpus, visible_cards
from runners.plan import (
    ROOT,
    Plan,
    capability_notes,
    choose_interpreter,
    cpu_build_words,
    held_problems,
    recorder_env,
)
from runners.registry import home


def plan_program(
    name: str,
    *,
    devices: Sequence[str] | None = None,
    stand_ins: int | None = None,
    steps: int | None = None,
    options: Mapping[str, Value] | None = None,
    python: str | Path | None = None,
    origin: str = "cli",
    share: bool = False,
    record: bool = True,
) -> Plan:
    """Plan a run of a catalogued program. UsageError for an unknown one; all else is in `problems`."""
    program = catalogue.program(name)
    problems: list[str] = []
    values = _values(program, options or {}, problems)
    if steps is not None and steps < 1:
        problems.append(f"--steps {steps} is not possible: it takes a whole number of at least 1")
    interpreter = choose_interpreter(program.framework, python)
    problems += [interpreter.problem] if interpreter.problem else []
    gpus = known_gpus()
    choice = choose(devices, stand_ins, gpus)
    if choice.names is None and not choice.problems:
        choice = _default_devices(program, values, gpus, interpreter.build, share)
    problems += choice.problems
    if choice.cards and interpreter.build == "cpu":
        problems.append(cpu_build_words(program.framework))
    if not choice.problems:
        problems += program_problems(program, choice.names or [], values)
    if not program.script.is_file():
        problems.append(f"the program's script {program.script} is missing")

    command = [str(interpreter.python), str(program.script)]
    # Stand-ins alone are all used by default.
    if devices is not None or choice.cards:
        command += ["--devices", ",".join(choice.own_names.get(name, name) for name in choice.names or [])]
    if choice.stand_ins is not None:
        command += ["--stand-ins", str(choice.stand_ins)]
    if steps is not None:
        command += ["--steps", str(steps)]
    for option in program.options:
        value = values[option.name]
        if option.name in (options or {}) and value is not None:
            shown = choice.own_names.get(str(value), str(value)) if option.type == "device" else str(value)
            command += [f"--{option.name}", shown]
    return Plan(
        kind="program",
        name=program.name,
        framework=program.framework,
        command=command,
        env=recorder_env(record) | choice.env,
        cwd=ROOT,
        python=interpreter.python,
        devices=choice.names,
        stand_ins=choice.stand_ins,
        steps=steps if steps is not None else program.default_steps,
        options=values,
        problems=problems + held_problems(choice.cards, share),
        unready=interpreter.problem if interpreter.installable else None,
        notes=choice.notes + capability_notes(program.framework, choice.cards),
        device_map=choice.map(),
        cards=choice.cards,
        share=share,
        origin=origin,
    )


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
    count = program.default_devices
    visible = visible_cards(gpus, os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ.get("CUDA_DEVICE_ORDER"))
    stand_ins_wanted = any(str(name).startswith("cpu:") for name in wanted)
    if len(visible) >= program.min_devices and visible and build != "cpu" and not stand_ins_wanted:
        named = [card for card in visible if card.device in wanted]
        others = [card for card in visible if card not in named]
        free = [card for card in others if share or not leases.holders(home(), card.uuid)]
        # Without enough free cards it still gets the least it needs, and the plan says who holds them.
        taken = [card for card in others if card not in free]
        count = max(program.min_devices, min(count, len(free) + len(named)))
        picked = (free + taken)[: max(0, count - len(named))] + named
        choice = choose([card.device for card in picked], None, gpus)
        choice.notes.insert(0, f"no devices were named, so it gets {', '.join(choice.names or [])}")
        return choice
    choice = choose(None, count, gpus)
    names = ", ".join(choice.names or [])
    if not visible:
        why = gpus.problem or "CUDA_VISIBLE_DEVICES hides the GPUs"
        choice.notes.append(f"no GPU to use here: {why}; {names} are stand-ins that play GPUs")
    elif build == "cpu":
        choice.notes.append(f"{cpu_build_words(program.framework)}; {names} are stand-ins that play GPUs")
    else:
        choice.notes.append(f"{names} are stand-ins that play GPUs")
    return choice
