"""What a launch would do, before it does anything: the exact command, the changed environment, problems."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from runners.catalogue import Value, did_you_mean
from runners.environments import builds, environments
from runners.environments.frameworks import FRAMEWORKS, Framework
from runners.environments.installed_versions import package_versions
from runners.errors import HopscopeError
from runners.machine.gpus import Gpu
from runners.runs import leases
from runners.runs.leftovers import RUN_DIR_VARIABLE
from runners.runs.registry import home
from runners.runs.run import Run
from runners.runs.trial import Trial
from runners.supervise.members import Stage

ROOT = Path(__file__).resolve().parents[2]
INJECT = ROOT / "probes" / "inject"
TRACE_VARIABLE = "HOPSCOPE_TRACE"
RUN_PLACEHOLDER = "<run>"
"""Stands in a plan's environment for the id that the run gets when it is launched."""

NO_INTERPRETER = "there is no Python interpreter at"

FRAMEWORK_NAMES = tuple(FRAMEWORKS)

Kind = Literal["program", "script"]


@dataclasses.dataclass(frozen=True)
class LaunchOptions:
    """How a run is to be launched, whatever it runs."""

    python: str | Path | None = None
    """The interpreter; None for that of the framework's environment."""
    origin: str = "cli"
    share: bool = False
    """Whether it may use GPUs that another run uses."""
    record: bool = True
    exact: bool = False


AS_USUAL = LaunchOptions()


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
    warning: str | None = None
    """What starting it opens to others."""
    stages: tuple[Stage, ...] = ()
    """What is started, where that is not `command` alone."""
    time_limit_s: float | None = None
    """After how many seconds all of it is ended."""
    resumes: Run | None = None
    """The run whose checkpoints it goes on from."""
    preflight: Mapping[str, float] | None = None
    """The `steps`, `gpus` and `seconds` of a pre-flight: a short run to foresee another machine's."""
    trial: Trial | None = None
    """What it tries of another run; None where it tries nothing."""
    lesson: Mapping[str, str] | None = None
    """The `program` and `variant` of the lesson that the run is made for; None where it is for none."""


@dataclasses.dataclass(frozen=True)
class Interpreter:
    """The Python that a run would use."""

    python: Path
    build: str | None = None
    """`cpu` or `gpu` where it is known which of them its framework was built for."""
    named: bool = False
    """The user named it, so its framework may be another build than Hopscope installs."""
    problem: str | None = None
    """Why it cannot be used."""
    installable: bool = False
    """Installing the framework's environment would solve that."""


def choose_interpreter(framework: str, python: str | Path | None) -> Interpreter:
    """Return the interpreter that was named, or that of the framework's environment."""
    if framework not in FRAMEWORKS:
        hint = did_you_mean(framework, FRAMEWORK_NAMES) or f"; there is {' and '.join(FRAMEWORK_NAMES)}"
        return Interpreter(Path("python3"), problem=f"there is no framework {framework!r}{hint}")
    known = FRAMEWORKS[framework]
    if python is not None:
        return _named_interpreter(known, python)
    found = environments.environment(framework)
    try:
        environments.require(framework)
    except HopscopeError as error:
        return Interpreter(found.python, problem=str(error), installable=True)
    problem = builds.driver_problem(known) if found.build == "gpu" else None
    if problem:
        problem += f": install the driver, or python3 -m app setup --framework {framework} --build cpu"
    return Interpreter(found.python, found.build, problem=problem)


def _named_interpreter(framework: Framework, python: str | Path) -> Interpreter:
    text = str(Path(python).expanduser())
    found = shutil.which(text)
    # Not resolved: a virtual environment's python is a link, and only its own path makes it that one.
    path = Path(found or text).absolute()
    if not found:
        return Interpreter(path, named=True, problem=f"{NO_INTERPRETER} {python}")
    # A CPU build is left to say itself what it lacks: an environment of the user's is theirs to change.
    gpu_build = framework.needs_driver and environments.build_in(path, framework) == "gpu"
    problem = _too_new(framework, path) or (builds.driver_problem(framework) if gpu_build else None)
    return Interpreter(path, "gpu" if gpu_build else None, named=True, problem=problem)


def _too_new(framework: Framework, python: Path) -> str | None:
    """Why a framework cannot run on this interpreter at all, where it is newer than all it has builds for."""
    if framework.newer_python is None:
        return None
    version = package_versions(python).get("python", "")
    newest = framework.newest_python
    if tuple(int(part) for part in version.split(".")[:2] if part) <= newest:
        return None
    oldest = framework.oldest_python
    return (
        f"{python} is Python {version}, and {framework.title} runs on {oldest[0]}.{oldest[1]} to"
        f" {newest[0]}.{newest[1]}: {framework.newer_python}; name another with --python, or leave that out"
    )


@dataclasses.dataclass(frozen=True)
class ExactMode:
    """Whether a run can have, and has, its framework's exact mode."""

    env: Mapping[str, str]
    problems: list[str]
    notes: list[str]


def choose_exact(framework: str, wanted: bool, record: bool) -> ExactMode:
    """Return what the mode changes, where it was asked for."""
    if not wanted or framework not in FRAMEWORKS:
        return ExactMode({}, [], [])
    if not record:
        words = "--exact is for the recorder, and --no-record leaves that out; leave one of them out"
        return ExactMode({}, [words], [])
    known = FRAMEWORKS[framework].exact
    return ExactMode(known.env, [], [known.note])


def recorder_env(
    record: bool, exact: ExactMode | None = None, variables: Mapping[str, str] | None = None
) -> dict[str, str | None]:
    """Return what brings the recorder in; without recording nothing but the run's folder is told.

    `variables` are the user's own, which go before those of the launcher's environment.
    """
    own = dict(variables or {})
    env: dict[str, str | None] = {
        **own,
        RUN_DIR_VARIABLE: str(home().resolve() / "runs" / RUN_PLACEHOLDER),
        TRACE_VARIABLE: "1" if record else "0",
        # Output goes to a file, where Python would keep it back until 8 KB have come together.
        "PYTHONUNBUFFERED": own.get("PYTHONUNBUFFERED") or os.environ.get("PYTHONUNBUFFERED") or "1",
    }
    if record:
        old = own.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
        kept = [entry for entry in old.split(os.pathsep) if entry != str(INJECT)] if old else []
        env["PYTHONPATH"] = os.pathsep.join([str(INJECT), *kept])
        env.update(exact.env if exact else {})
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


def judge_cards(
    framework: str, cards: Sequence[Gpu], interpreter: Interpreter
) -> tuple[list[str], list[str]]:
    """Return why the framework cannot use these GPUs, and what may go wrong on them; one line each."""
    if framework not in FRAMEWORKS or not cards:
        return [], []
    known = FRAMEWORKS[framework]
    # What the user built may hold other code than what Hopscope installs.
    ours = not interpreter.named or interpreter.build == "gpu"
    refused = builds.refusals(known, cards) if ours else []
    if refused:
        return [f"{line}; name another card, or none" for line in refused], []
    if interpreter.build == "cpu":
        return [cpu_build_words(framework)], []
    return [], capability_notes(framework, cards)


def cpu_build_words(framework: str) -> str:
    """Return the line that says that GPUs are no use to this environment."""
    return (
        f"the {framework} environment is a CPU build, so its GPUs are out of reach: "
        f"python3 -m app setup --framework {framework} --build gpu"
    )


def capability_notes(framework: str, cards: Sequence[Gpu]) -> list[str]:
    """Return a warning for each card that is newer than the framework's builds."""
    return builds.warnings(FRAMEWORKS[framework], cards) if framework in FRAMEWORKS else []
