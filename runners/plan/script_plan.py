"""Planning a run of any script or module, as it is."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from runners.catalogue import did_you_mean
from runners.environments.frameworks import FRAMEWORKS
from runners.errors import UsageError
from runners.machine.cuda_order import may_use
from runners.machine.gpus import known_gpus
from runners.plan.device_choice import DeviceChoice, choose
from runners.plan.imports import framework_of, module_file
from runners.plan.plan import (
    AS_USUAL,
    LaunchOptions,
    Plan,
    capability_notes,
    choose_exact,
    choose_interpreter,
    held_problems,
    judge_cards,
    recorder_env,
)
from runners.typed_paths import possible

DEFAULT_FRAMEWORK = next(iter(FRAMEWORKS))


def plan_script(
    argv: Sequence[str],
    *,
    framework: str | None = None,
    devices: Sequence[str] | None = None,
    cwd: str | Path | None = None,
    module: bool = False,
    variables: Mapping[str, str] | None = None,
    launch: LaunchOptions = AS_USUAL,
) -> Plan:
    """Plan a run of any script, `argv` being its path and arguments, or a module's name and arguments.

    Without `devices`, no variable that says which devices it sees is touched. `variables` are the user's own
    for this run.
    """
    if not argv:
        raise UsageError("no script is named; write it behind two dashes: run -- train.py --epochs 3")
    folder = Path(cwd).expanduser().absolute() if cwd is not None else Path.cwd()
    target = argv[0]
    possible(folder.joinpath(*target.split(".")) if module else folder / target)
    problems: list[str] = []
    if not folder.is_dir():
        problems.append(f"the folder {folder} does not exist")
    file = module_file(target, folder) if module else folder / target
    if not module:
        problems += _script_problems(target, folder / target)
    seen = framework_of(file, folder if module else None) if file and framework is None else None
    chosen = framework or seen or DEFAULT_FRAMEWORK
    interpreter = choose_interpreter(chosen, launch.python)
    problems += [interpreter.problem] if interpreter.problem else []
    mode = choose_exact(chosen, launch.exact, launch.record)
    problems += mode.problems
    gpus = known_gpus()
    choice = choose(devices, None, gpus)
    problems += choice.problems
    refused, warned = judge_cards(chosen, choice.cards, interpreter)
    problems += refused
    if choice.names and not choice.problems:
        _restrict_script(choice)
        problems += choice.problems
    cards = choice.cards
    own = dict(variables or {})
    if named_twice := sorted(own.keys() & choice.env.keys()):
        problems.append(f"{named_twice[0]} is given among the variables, and the chosen devices set it too")
    if devices is None and interpreter.build != "cpu":
        cards = list(may_use(gpus, os.environ | own))
        # It may do without them, so it is only told.
        warned = capability_notes(chosen, cards)
    words = ["-m", *argv] if module else list(argv)
    return Plan(
        kind="script",
        name=_slug(target.rpartition(".")[2] if module else Path(target).stem),
        framework=chosen,
        command=[str(interpreter.python), *words],
        env=recorder_env(launch.record, mode, own) | choice.env,
        cwd=folder,
        python=interpreter.python,
        devices=choice.names,
        stand_ins=None,
        steps=None,
        options={},
        problems=problems + held_problems(cards, launch.share),
        unready=interpreter.problem if interpreter.installable else None,
        notes=choice.notes + warned + _default_notes(framework or seen, launch.python) + mode.notes,
        device_map=choice.map(),
        cards=cards,
        share=launch.share,
        origin=launch.origin,
    )


def _default_notes(chosen: str | None, python: str | Path | None) -> list[str]:
    """Say in whose environment a script runs that names no framework."""
    if chosen or python is not None:
        return []
    others = " or ".join(name for name in FRAMEWORKS if name != DEFAULT_FRAMEWORK)
    title = FRAMEWORKS[DEFAULT_FRAMEWORK].title
    return [
        f"it imports no framework by name, so it runs in {title}'s environment; else: --framework {others}"
    ]


def _restrict_script(choice: DeviceChoice) -> None:
    """Leave of a choice what a script can be given: GPUs, or the host alone."""
    stand_ins = [name for name in choice.names or [] if name.startswith("cpu:") and name != "cpu:0"]
    if stand_ins:
        choice.problems.append(
            f"{stand_ins[0]} is a stand-in, and only catalogued programs make those; "
            "a script can be given gpu:0 and so on, or cpu:0 for no GPU"
        )
    elif not choice.cards:
        choice.env["CUDA_VISIBLE_DEVICES"] = "-1"
        choice.notes.append("CUDA_VISIBLE_DEVICES=-1 hides all GPUs from it")


def _script_problems(target: str, file: Path) -> list[str]:
    if file.is_file():
        return [] if os.access(file, os.R_OK) else [f"the script {target} cannot be read: permission denied"]
    if file.is_dir():
        return [] if (file / "__main__.py").is_file() else [f"{target} is a folder without a __main__.py"]
    if file.exists():
        return [f"{target} is neither a file nor a folder, so it is no script"]
    if re.fullmatch(r"python[0-9.]*", Path(target).name):
        return [
            f"{target} is an interpreter: name the script itself, run -- train.py, "
            f"and the interpreter with --python {target}"
        ]
    try:
        siblings = [entry.name for entry in file.parent.iterdir() if entry.suffix == ".py"]
    except OSError:
        siblings = []
    return [f"the script {target} does not exist{did_you_mean(file.name, siblings)}"]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40] or "script"
