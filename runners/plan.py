"""What a launch would do, before it does anything: the exact command, the changed environment, problems."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from runners import environments, leases
from runners.catalogue import Value, did_you_mean
from runners.errors import HopscopeError
from runners.frameworks import FRAMEWORKS
from runners.gpus import Gpu
from runners.registry import home
from runners.run import RUN_DIR_VARIABLE

ROOT = Path(__file__).resolve().parents[1]
INJECT = ROOT / "probes" / "inject"
TRACE_VARIABLE = "HOPSCOPE_TRACE"
RUN_PLACEHOLDER = "<run>"
"""Stands in a plan's environment for the id that the run gets when it is launched."""
FIRST_UNSUPPORTED_CAPABILITY = (12, 0)

FRAMEWORK_NAMES = ("tensorflow", "mxnet")

Kind = Literal["program", "script"]


@dataclasses.dataclass(frozen=True)
class Plan:
    """A launch that has not happened. With `problems` it cannot: they say why, one line each."""

    kind: Kind
    name: str
    framework: str
    command: list[str]
    env: dict[str, str | None]
    """Only what is changed of the launcher's environment; None removes a variable."""
    cwd: Path
    python: Path
    devices: list[str] | None
    """As the user names them; None where the run just gets what its environment shows."""
    stand_ins: int | None
    steps: int | None
    options: dict[str, Value | None]
    problems: list[str]
    unready: str | None
    """Which of the problems installing the framework's environment would solve, None when none of them."""
    notes: list[str]
    """What the user should know and did not ask for: stand-ins, defaults."""
    device_map: dict[str, dict[str, Any]]
    """From the process's own device names to what they are: uuid and so on, or stand_in."""
    cards: list[Gpu]
    """The GPUs to lease."""
    share: bool
    origin: str


@dataclasses.dataclass(frozen=True)
class Interpreter:
    """The Python that a run would use."""

    python: Path
    build: str | None = None
    """`cpu` or `gpu` where it is known which of them its framework was built for."""
    problem: str | None = None
    """Why it cannot be used."""
    installable: bool = False
    """Installing the framework's environment would solve that."""


def choose_interpreter(framework: str, python: str | Path | None) -> Interpreter:
    """Return the interpreter that was named, or that of the framework's environment."""
    if python is not None:
        text = str(Path(python).expanduser())
        found = shutil.which(text)
        problem = None if found else f"there is no Python interpreter at {python}"
        # Not resolved: a virtual environment's python is a link, and only its own path makes it that one.
        return Interpreter(Path(found or text).absolute(), problem=problem)
    if framework not in FRAMEWORK_NAMES:
        hint = did_you_mean(framework, FRAMEWORK_NAMES) or f"; there is {' and '.join(FRAMEWORK_NAMES)}"
        return Interpreter(Path("python3"), problem=f"there is no framework {framework!r}{hint}")
    if framework not in FRAMEWORKS:
        words = f"there is no environment for {framework} yet; name an interpreter that has it: --python EXE"
        return Interpreter(Path("python3"), problem=words)
    known = environments.environment(framework)
    try:
        environments.require(framework)
    except HopscopeError as error:
        return Interpreter(known.python, problem=str(error), installable=True)
    return Interpreter(known.python, known.build)


def recorder_env(record: bool) -> dict[str, str | None]:
    """Return what brings the recorder in; without recording nothing but the run's folder is told."""
    env: dict[str, str | None] = {
        RUN_DIR_VARIABLE: str(home().resolve() / "runs" / RUN_PLACEHOLDER),
        TRACE_VARIABLE: "1" if record else "0",
        # Output goes to a file, where Python would keep it back until 8 KB have come together.
        "PYTHONUNBUFFERED": os.environ.get("PYTHONUNBUFFERED") or "1",
    }
    if record:
        old = os.environ.get("PYTHONPATH", "")
        kept = [entry for entry in old.split(os.pathsep) if entry != str(INJECT)] if old else []
        env["PYTHONPATH"] = os.pathsep.join([str(INJECT), *kept])
    return env


def held_problems(cards: Sequence[Gpu], share: bool) -> list[str]:
    """Return which of these cards other runs use, one line each; none when sharing them was asked for."""
    if share:
        return []
    return [held_message(card, users) for card in cards if (users := leases.holders(home(), card.uuid))]


def held_message(card: Gpu, users: Sequence[str]) -> str:
    """Return the line that says which runs use a card and what to do."""
    return (
        f"{card.device} ({card.name}) is in use by run {', '.join(users)}: stop that, name other devices "
        "with --devices, or use it together with --share"
    )


def cpu_build_words(framework: str) -> str:
    """Return the line that says that GPUs are no use to this environment."""
    return (
        f"the {framework} environment is a CPU build, so its GPUs are out of reach: "
        f"python3 -m app setup --framework {framework} --build gpu"
    )


def capability_notes(framework: str, cards: Sequence[Gpu]) -> list[str]:
    """Return a warning for each card that is newer than the framework's builds."""
    return [
        f"{card.device} ({card.name}) has compute capability {card.compute_capability[0]}."
        f"{card.compute_capability[1]}, for which TensorFlow's builds up to 2.21 hold no code: it may abort"
        for card in cards
        if framework == "tensorflow"
        and card.compute_capability is not None
        and card.compute_capability >= FIRST_UNSUPPORTED_CAPABILITY
    ]
