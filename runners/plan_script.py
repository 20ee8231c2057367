"""Planning a run of any script or module, as it is."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from runners.catalogue import did_you_mean
from runners.devices import DeviceChoice, choose
from runners.errors import UsageError
from runners.gpus import known_gpus, visible_cards
from runners.imports import framework_of, module_file
from runners.plan import (
    Plan,
    capability_notes,
    choose_interpreter,
    cpu_build_words,
    held_problems,
    recorder_env,
)

DEFAULT_FRAMEWORK = "tensorflow"


def plan_script(
    argv: Sequence[str],
    *,
    framework: str | None = None,
    devices: Sequence[str] | None = None,
    python: str | Path | None = None,
    cwd: str | Path | None = None,
    origin: str = "cli",
    module: bool = False,
    share: bool = False,
    record: bool = True,
) -> Plan:
    """Plan a run of any script, `argv` being its path and arguments, or a module's name and arguments.

    Without `devices`, no variable that says which devices it sees is touched.
    """
    if not argv:
        raise UsageError("no script is named; write it behind two dashes: run -- train.py --epochs 3")
    folder = Path(cwd).expanduser().absolute() if cwd is not None else Path.cwd()
    target = argv[0]
    problems: list[str] = []
    if not folder.is_dir():
        problems.append(f"the folder {folder} does not exist")
    file = module_file(target, folder) if module else folder / target
    if not module:
        problems += _script_problems(target, folder / target)
    chosen = framework or (framework_of(file) if file else None) or DEFAULT_FRAMEWORK
    interpreter = choose_interpreter(chosen, python)
    problems += [interpreter.problem] if interpreter.problem else []
    gpus = known_gpus()
    choice = choose(devices, None, gpus)
    problems += choice.problems
    if choice.cards and interpreter.build == "cpu":
        problems.append(cpu_build_words(chosen))
    if choice.names and not choice.problems:
        _restrict_script(choice)
        problems += choice.problems
    cards = choice.cards
    if devices is None and interpreter.build != "cpu":
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        cards = list(visible_cards(gpus, visible, os.environ.get("CUDA_DEVICE_ORDER")))
    words = ["-m", *argv] if module else list(argv)
    return Plan(
        kind="script",
        name=_slug(target.rpartition(".")[2] if module else Path(target).stem),
        framework=chosen,
        command=[str(interpreter.python), *words],
        env=recorder_env(record) | choice.env,
        cwd=folder,
        python=interpreter.python,
        devices=choice.names,
        stand_ins=None,
        steps=None,
        options={},
        problems=problems + held_problems(cards, share),
        unready=interpreter.problem if interpreter.installable else None,
        notes=choice.notes + capability_notes(chosen, cards),
        device_map=choice.map(),
        cards=cards,
        share=share,
        origin=origin,
    )


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
