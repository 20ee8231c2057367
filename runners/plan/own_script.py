"""A script of the user's own, as the Launch page asks for it, and the plan that it makes."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from probes import private_files
from runners.environments.frameworks import FRAMEWORKS
from runners.environments.interpreters import Interpreter, check
from runners.errors import UsageError
from runners.plan.imports import module_file
from runners.plan.plan import NO_INTERPRETER, LaunchOptions, Plan
from runners.plan.script_folders import allowed, inside
from runners.plan.script_plan import plan_script
from runners.runs.registry import home

REMEMBERED = "own-scripts.json"
"""In home: what was launched last, first; readable by its owner only, because variables may be secrets."""
MOST_REMEMBERED = 20
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclasses.dataclass(frozen=True)
class OwnScript:
    """What the form holds, as it was typed; nothing of it is judged yet."""

    folder: str = ""
    """One of the allowed folders."""
    script: str = ""
    """The script's path from there, or a module's name."""
    module: bool = False
    arguments: str = ""
    python: str = ""
    """'' for the interpreter of Hopscope's own environment."""
    cwd: str = ""
    """From the allowed folder on; '' for where the script lies, and of a module the folder itself."""
    framework: str = ""
    """'' for the one that the script imports."""
    devices: tuple[str, ...] | None = None
    """None to leave the choice to the script and its environment."""
    variables: str = ""
    """NAME=VALUE, one a line."""
    exact: bool = False

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Self:
        """From what was kept; what is not understood is left out."""
        known: dict[str, Any] = {}
        for field in dataclasses.fields(cls):
            value = kept.get(field.name)
            if field.name == "devices":
                if isinstance(value, list) and all(isinstance(name, str) for name in value):
                    known["devices"] = tuple(value)
            elif isinstance(value, type(field.default)):
                known[field.name] = value
        return cls(**known)


def split_arguments(text: str) -> list[str]:
    """The arguments in a line, as a shell would split it; UsageError for an open quote."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"the arguments cannot be split: {str(error).lower()}") from None


def read_variables(text: str) -> dict[str, str]:
    """The variables in lines of NAME=VALUE; UsageError names the line that is none."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, sign, value = line.partition("=")
        name = name.strip().removeprefix("export ").strip()
        if not sign or not _VARIABLE.fullmatch(name) or "\0" in value:
            raise UsageError(f"line {number} of the variables is not NAME=VALUE: {line.strip()[:60]!r}")
        if name.startswith("HOPSCOPE_"):
            raise UsageError(f"line {number} of the variables: {name} is Hopscope's own")
        if name in found:
            raise UsageError(f"line {number} of the variables gives {name} a second time")
        found[name] = value
    return found


def plan_own(own: OwnScript, share: bool = False) -> Plan:
    """Plan the launch of a script or module from an allowed folder; UsageError where there is none to plan.

    Whatever can be said of a script that exists stands in the plan's problems.
    """
    arguments, variables = split_arguments(own.arguments), read_variables(own.variables)
    if Path(own.folder) not in allowed():
        raise UsageError(f"{own.folder or 'no folder'} is not a folder whose scripts may be launched")
    folder = inside(own.folder)
    if not own.script.strip():
        raise UsageError("no script is chosen")
    cwd = inside(folder / own.cwd)
    if not cwd.is_dir():
        raise UsageError(f"the working directory {cwd} does not exist")
    target = _module(own.script.strip(), cwd) if own.module else _script(folder, own.script.strip())
    if not own.module and not own.cwd:
        cwd = Path(target) if Path(target).is_dir() else Path(target).parent
    plan = plan_script(
        [target, *arguments],
        framework=own.framework or None,
        devices=own.devices,
        launch=LaunchOptions(python=own.python or None, origin="page", share=share, exact=own.exact),
        cwd=cwd,
        module=own.module,
        variables=variables,
    )
    if own.python:
        _judge_interpreter(plan, check(own.python))
    return plan


def _judge_interpreter(plan: Plan, found: Interpreter) -> None:
    """Add to the plan's problems why the chosen interpreter cannot run the script, or not yet."""
    if found.problem:
        # It says more than the plan does.
        plan.problems[:] = [told for told in plan.problems if not told.startswith(NO_INTERPRETER)]
        plan.problems.append(found.problem)
    elif found.checking:
        plan.problems.append(found.words)
    elif plan.framework not in found.frameworks:
        title = FRAMEWORKS[plan.framework].title
        plan.problems.append(f"{found.python} has no {title}, which the script runs in: it has {found.words}")


def _script(folder: Path, script: str) -> str:
    """The script's own path: a link that is changed between planning and launching leads nowhere else."""
    path = inside(folder / script)
    if not path.exists():
        raise UsageError(f"there is no script {script} in {folder}")
    if path.is_file() and path.suffix != ".py":
        raise UsageError(f"{script} is not a Python script: its name does not end in .py")
    return str(path)


def _module(name: str, cwd: Path) -> str:
    if not _MODULE.fullmatch(name):
        raise UsageError(f"{name!r} is not a module's name: write package.module, without .py")
    file = module_file(name, cwd)
    if file is None:
        raise UsageError(
            f"there is no module {name} in {cwd}; the page launches those of the allowed folders only, "
            "installed ones are run from the command line"
        )
    inside(file)
    return name


def remembered() -> list[OwnScript]:
    """What was launched from the page, last first; only what lies in folders that are allowed now."""
    with contextlib.suppress(OSError, ValueError, LookupError, AttributeError, TypeError, RecursionError):
        kept = json.loads((home() / REMEMBERED).read_text())["launched"]
        found = [OwnScript.read(one) for one in kept]
        return [own for own in found if Path(own.folder) in allowed() and own.script]
    return []


def remember(own: OwnScript) -> None:
    """Keep what was launched, in front of what was before; on a full disk it is forgotten."""
    path = home() / REMEMBERED
    with contextlib.suppress(OSError, ValueError):
        kept: list[Any] = []
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
            kept = list(json.loads(path.read_text())["launched"])
        same = (own.folder, own.script, own.module)
        rest = [
            one
            for one in kept
            if isinstance(one, dict) and (one.get("folder"), one.get("script"), one.get("module")) != same
        ]
        launched = [dataclasses.asdict(own), *rest][:MOST_REMEMBERED]
        private_files.replace_file(str(path), json.dumps({"launched": launched}, indent=1).encode())
