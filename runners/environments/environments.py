"""The frameworks' environments, one each, because no one environment can hold them all.

What state one is in is read off the disk, so every process and every viewer sees the same.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TextIO

from runners.environments.builds import choose_build, driver_problem
from runners.environments.first_import import check_import
from runners.environments.frameworks import BUILDS, FRAMEWORKS, Framework
from runners.environments.install import install as install_into
from runners.environments.pythons import PythonRange
from runners.environments.virtualenv import VirtualEnvironment
from runners.environments.workbench import Report
from runners.errors import HopscopeError, UsageError

State = Literal["missing", "installing", "ready", "failed"]

ROOT = Path(__file__).resolve().parents[2]
# Run by the environment's own interpreter: is the module there, and is it a build for GPUs? Imports nothing.
_LOOK = """
import importlib.util, json, pathlib, sys
module, pattern, text = sys.argv[1:]
spec = importlib.util.find_spec(module)
found = {"found": spec is not None, "gpu": False}
if spec is not None and spec.origin:
    files = pathlib.Path(spec.origin).parents[1].glob(pattern)
    found["gpu"] = any(text in file.read_text(errors="replace") for file in files)
print(json.dumps(found))
"""


@dataclasses.dataclass(frozen=True)
class Environment:
    """A framework's environment as it stands now."""

    name: str
    path: Path
    python: Path
    """Its interpreter, whether it exists yet or not."""
    state: State
    reason: str | None
    """Why it failed or is missing; for a ready one, what the user should know about it."""
    progress: float | None
    """0 to 1 while installing; None where nothing tells how much there is to do."""
    step: str | None
    """What the install is doing now."""
    log: Path
    build: str | None
    """`cpu` or `gpu`; None where nothing is installed."""


def folder() -> Path:
    """Where the frameworks' environments are: $HOPSCOPE_ENVS, or .venvs in the clone."""
    chosen = os.environ.get("HOPSCOPE_ENVS")
    return Path(chosen).expanduser().absolute() if chosen else ROOT / ".venvs"


def environment(framework: str) -> Environment:
    """The state of `framework`'s environment, read from the disk. UsageError for an unknown framework."""
    known = _known(framework)
    if own := _users_own(known):
        return own
    virtual = _virtual(known)
    progress = virtual.progress()
    stamp = virtual.stamp(known.name)
    build = stamp["build"] if stamp else (progress or {}).get("build")
    state: State
    reason, step, fraction = None, None, None
    busy = virtual.busy()
    if busy or virtual.queued():
        state = "installing"
        step, fraction = virtual.under_way() if busy else (_waits_for(known), None)
    elif stamp and virtual.is_current(known.recipe(stamp["build"])):
        state, reason = "ready", _about(known, stamp["build"])
    elif progress is not None:
        state, reason = _left_by(progress)
    elif found := build_in(virtual.python, known):
        state, reason, build = "ready", "not made by Hopscope, used as it is", found
    else:
        state = "missing"
    shown = build if state != "missing" else None
    return Environment(
        known.name, virtual.path, virtual.python, state, reason, fraction, step, virtual.log, shown
    )


def _left_by(progress: Mapping[str, Any]) -> tuple[State, str | None]:
    """The state in which an install left an environment, and why."""
    if progress["state"] == "failed":
        return "failed", progress.get("reason")
    if progress["state"] == "ready":
        return "missing", "what it must hold has changed since it was made"
    return "missing", "its install was interrupted; the next one goes on from there"


def in_queue(framework: str) -> contextlib.AbstractContextManager[TextIO]:
    """Show that this process is going to install `framework`, until the file that this yields is closed."""
    return _virtual(_known(framework)).in_queue()


def environments() -> list[Environment]:
    """The state of every framework's environment."""
    return [environment(name) for name in FRAMEWORKS]


def require(framework: str) -> Environment:
    """The ready environment of `framework`; HopscopeError saying what to do where it is not ready."""
    found = environment(framework)
    if found.state == "ready":
        return found
    title = FRAMEWORKS[framework].title
    if found.state == "installing":
        raise HopscopeError(
            f"{title}'s environment is being installed ({found.step}); try again when it is ready"
        )
    because = f": {found.reason}" if found.reason else ""
    raise HopscopeError(
        f"{title}'s environment is {found.state}{because}; install it with: python3 -m app setup"
        f" --framework {framework}"
    )


def install(
    framework: str, build: str | None = None, report: Report | None = None, locked: bool = False
) -> Environment:
    """Install `framework`'s environment and return it when it is ready; waits for another process's install.

    `build` is `cpu`, `gpu` or, None, what the machine calls for; what is ready then stays as it is.
    `report` is called a few times a second. `locked`: only the wheels of the locked set, whose hashes are
    checked; an environment that holds others is made anew. HopscopeError with the reason in one line where it
    fails, and before anything is done where the build could not be imported here.
    """
    known = _known(framework)
    if build is not None and build not in BUILDS:
        raise UsageError(f"no build {build!r}: it is cpu or gpu")
    now = environment(framework)
    virtual = _virtual(known)
    same = now.state == "ready" and build in (None, now.build)
    if same and (not locked or virtual.is_current(known.recipe(now.build or "cpu", locked))):
        return now
    ours = virtual.progress() is not None
    if _users_own(known) or (now.state == "ready" and not ours):
        what = now.reason or "not made by Hopscope"
        raise HopscopeError(f"{now.path} is left alone: {what}")
    wanted = build or (now.build if now.state == "ready" else None) or choose_build(known)[0]
    refuse_useless(framework, wanted)
    # Builds share module names, so one is never laid over the other.
    another = now.build is not None and now.build != wanted
    # What is there already would be taken for what the hashes are of.
    unlocked = locked and not virtual.is_current(known.recipe(wanted, locked))
    install_into(
        virtual,
        known.recipe(wanted, locked),
        python_range(known),
        report or _quiet,
        clear=another or unlocked,
        check=functools.partial(check_import, known),
    )
    return environment(framework)


def refuse_useless(framework: str, build: str | None) -> None:
    """HopscopeError where a build is wanted that could not even be imported on this machine."""
    known = _known(framework)
    if build == "gpu" and (problem := driver_problem(known)):
        raise HopscopeError(
            f"{problem}: install the driver first, or take the CPU build with --build cpu;"
            f" nothing is installed, and {_virtual(known).path} is left as it is"
        )


def suited_build(framework: str) -> str:
    """The build that the machine calls for, `cpu` or `gpu`; looked up once."""
    return chosen_build(framework)[0]


def python_range(framework: Framework) -> PythonRange:
    """The versions of Python that `framework` has builds for."""
    return PythonRange(framework.title, framework.oldest_python, framework.newest_python)


def _known(framework: str) -> Framework:
    try:
        return FRAMEWORKS[framework]
    except KeyError:
        names = ", ".join(FRAMEWORKS)
        raise UsageError(f"no framework {framework!r}: there is {names}") from None


def _virtual(framework: Framework) -> VirtualEnvironment:
    return VirtualEnvironment(folder() / framework.name, folder(), framework.name)


def is_users_own(framework: str) -> bool:
    """Whether the user named an environment of their own, which nothing is installed into."""
    return _users_own(_known(framework)) is not None


def _users_own(framework: Framework) -> Environment | None:
    """The environment that the user named with $HOPSCOPE_TENSORFLOW (and so on), if any."""
    variable = f"HOPSCOPE_{framework.name.upper()}"
    chosen = os.environ.get(variable)
    if not chosen:
        return None
    path = Path(chosen).expanduser().absolute()
    python = path / "bin" / "python"
    build = build_in(python, framework)
    reason = f"named by ${variable}" if build else f"${variable} names {path}, which has no {framework.title}"
    return Environment(
        framework.name,
        path,
        python,
        "ready" if build else "failed",
        reason,
        None,
        None,
        folder() / f"{framework.name}.log",
        build,
    )


def build_in(python: Path, framework: Framework) -> str | None:
    """Which build of the framework an environment's interpreter has; None where it has none, or cannot tell.

    Nothing is imported; remembered while nothing changes there.
    """
    try:
        changed = max(
            entry.stat().st_mtime_ns for entry in python.parents[1].glob("lib/python*/site-packages")
        )
    except (OSError, ValueError):
        return None
    return _look_once(python, (framework.module, *framework.gpu_sign), changed) if python.exists() else None


@functools.lru_cache(maxsize=32)
def _look_once(python: Path, words: tuple[str, ...], changed: int) -> str | None:
    answer = subprocess.run([python, "-I", "-c", _LOOK, *words], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        return None
    found = json.loads(answer.stdout)
    if not found["found"]:
        return None
    return "gpu" if found["gpu"] else "cpu"


def _about(framework: Framework, build: str) -> str | None:
    """What the user should know of a ready environment: that it cannot be used here, or a faster one can."""
    if build == "gpu":
        return driver_problem(framework)
    suits, why = chosen_build(framework.name)
    if suits == "cpu":
        return None
    return f"this is the CPU build, and {why}: python3 -m app setup --framework {framework.name} --build gpu"


@functools.lru_cache(maxsize=8)
def chosen_build(framework: str) -> tuple[str, str]:
    """The build that the machine calls for, and why; looked up once."""
    return choose_build(FRAMEWORKS[framework])


def _waits_for(framework: Framework) -> str:
    """What stands before a framework in the queue."""
    others = [one.title for one in FRAMEWORKS.values() if one is not framework and _virtual(one).busy()]
    return f"waits for {' and '.join(others)}, which is installed first" if others else "starting"


def _quiet(_step: object) -> None:
    pass
