"""Running a run again with a change, to see whether a finding of it is gone.

The change is an edited copy of some of its files, or other options of a program. The copies are kept with
the new run; the user's own files are never touched.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from probes import private_files
from probes.trace.preflight import KERNELS_VARIABLE
from runners.catalogue import Value
from runners.environments.frameworks import FRAMEWORKS
from runners.errors import UsageError
from runners.plan.plan import INJECT, RUN_PLACEHOLDER, LaunchOptions, Plan
from runners.plan.preflight_plan import SECONDS, STEPS, Extent, as_preflight
from runners.plan.program_plan import plan_program
from runners.plan.script_plan import plan_script
from runners.runs import ownership, run_files
from runners.runs.registry import home
from runners.runs.run import Run
from runners.runs.trial import EDITS_NAME, FOLDER, VARIABLE, Trial

EDITED_SCRIPT = INJECT / "edited_script.py"
_MOST_COPIED = 4 << 20
"""Bytes of an edited copy."""
_SHARED = frozenset({"PYTHONPATH", "PYTHONUNBUFFERED"})


def plan_trial(
    run: Run,
    finding: str,
    *,
    edits: Mapping[str, str] | None = None,
    options: Mapping[str, Value] | None = None,
    origin: str = "cli",
    confirmed: str = "",
) -> Plan:
    """Plan `run` once more to see whether `finding` (``code@site``) goes away.

    `edits` holds the new text of files by absolute path; `options` what changes of a program's. Planning may
    ask the run's interpreter for its versions, so one that was not launched from this home takes `confirmed`:
    its `ownership.fingerprint`, as the operator was shown it. UsageError without that, and for a run that
    can't be repeated: see `unrepeatable`.
    """
    reason = unrepeatable(run)
    if reason:
        raise UsageError(reason)
    if not ownership.is_own(run) and not (confirmed and confirmed == ownership.fingerprint(run)):
        raise UsageError(f"{run.id} was not launched from here, and nobody has confirmed its command")
    spec = run.spec
    is_program = spec.get("kind") == "program"
    try:
        plan = _program(run, options or {}, origin) if is_program else _script(spec, origin)
        plan = _as_before(plan, spec)
    except (TypeError, ValueError, AttributeError):
        raise UsageError(f"{run.id} can't be run again: its spec.json is damaged") from None
    edits = edited_texts(run) | dict(edits or {})  # a run of edited copies is tried with what it had
    trial = Trial(run.id, finding, edits)
    if not edits:
        return dataclasses.replace(plan, trial=trial)
    problems = [*plan.problems, *_edit_problems(plan, edits)]
    listed = str(home().resolve() / "runs" / RUN_PLACEHOLDER / FOLDER / EDITS_NAME)
    return dataclasses.replace(
        plan,
        trial=trial,
        problems=problems,
        command=_with_copies(plan.command),
        env={**plan.env, VARIABLE: listed},
    )


def unrepeatable(run: Run) -> str:
    """Why a run can't be run again from here; '' where it can."""
    if run.spec.get("kind") not in ("program", "script"):
        return "this run was not launched by Hopscope, so it can't be run again from here"
    if not run.spec.get("command"):
        return "what this run was launched with is not known, so it can't be run again"
    return ""


def _program(run: Run, options: Mapping[str, Value], origin: str) -> Plan:
    spec = run.spec
    kept = {name: value for name, value in (spec.get("options") or {}).items() if value is not None}
    stand_ins = spec.get("stand_ins")
    return plan_program(
        str(spec["name"]),
        devices=spec.get("devices") if not stand_ins else None,
        stand_ins=stand_ins,
        steps=spec.get("steps"),
        options={**kept, **options},
        launch=LaunchOptions(origin=origin),
    )


def _script(spec: Mapping[str, Any], origin: str) -> Plan:
    python, *words = (str(word) for word in spec["command"])
    if words[:1] == [str(EDITED_SCRIPT)]:
        words = words[1:]
    module = words[:1] == ["-m"]
    had = {name: value for name, value in (spec.get("env") or {}).items() if isinstance(value, str)}
    known = FRAMEWORKS.get(str(spec.get("framework")))
    exact = known is not None and known.exact.env.items() <= had.items()

    def plan(variables: Mapping[str, str]) -> Plan:
        return plan_script(
            words[1:] if module else words,
            framework=spec.get("framework"),
            devices=spec.get("devices"),
            launch=LaunchOptions(python=python, origin=origin, exact=exact),
            cwd=spec.get("cwd"),
            module=module,
            variables=variables,
        )

    return plan(_own_variables(had, plan({}).env.keys()))


def _own_variables(had: Mapping[str, str], planned: Collection[str]) -> dict[str, str]:
    """The user's own of a run's variables: besides what is `planned` anew, and what is Hopscope's.

    Of those that a plan adds to or leaves to the user it takes what was.
    """
    return {
        name: value
        for name, value in had.items()
        if name in _SHARED or (name not in planned and not name.startswith("HOPSCOPE_"))
    }


def _as_before(plan: Plan, spec: Mapping[str, Any]) -> Plan:
    """A pre-flight's trial is one too: else a training would run on to its end."""
    asked = spec.get("preflight")
    if not isinstance(asked, Mapping):
        return plan
    kernels = (spec.get("env") or {}).get(KERNELS_VARIABLE)
    return as_preflight(
        plan,
        extent=Extent(
            steps=int(asked.get("steps") or STEPS),
            gpus=int(asked.get("gpus") or 0),
            seconds=float(asked.get("seconds") or SECONDS),
            kernels=str(kernels or ""),
        ),
    )


def _with_copies(command: list[str]) -> list[str]:
    """A script's command by which its copy runs; a module's imports find their copies themselves."""
    python, *words = command
    return command if words[:1] == ["-m"] else [python, str(EDITED_SCRIPT), *words]


def _edit_problems(plan: Plan, edits: Mapping[str, str]) -> list[str]:
    problems = []
    if plan.stages:
        problems.append("a run of several processes can be tried with other options, not with an edited copy")
    for path, text in edits.items():
        if not Path(path).is_file():
            problems.append(f"the file {path} is not there any more")
        try:
            compile(text, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            where = f" at line {line}" if line else ""
            problems.append(f"the edited text is no Python{where}: {getattr(error, 'msg', error)}")
    return problems


def write_edits(folder: Path, path: Path, trial: Trial) -> None:
    """Keep edited copies in a new run's `folder`, which will be at `path`. OSError as the disk has it."""
    if not trial.edits:
        return
    private_files.make_new_folder(str(folder / FOLDER))
    listed = {}
    for number, (file, text) in enumerate(trial.edits.items()):
        name = f"{number}-{Path(file).name}"
        private_files.write_file(str(folder / FOLDER / name), text.encode())
        listed[file] = str(path / FOLDER / name)
    private_files.write_file(str(folder / FOLDER / EDITS_NAME), f"{json.dumps(listed, indent=1)}\n".encode())


def edited_texts(run: Run) -> dict[str, str]:
    """The edited copies that a run was made with: absolute path of the file -> its text."""
    try:
        listed = json.loads(_copy(run, EDITS_NAME))
        # The run's folder may have been moved since: only the copies' names count.
        return {str(file): _copy(run, Path(str(copy)).name).decode() for file, copy in listed.items()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _copy(run: Run, name: str) -> bytes:
    return run_files.read_file(run.path, f"{FOLDER}/{name}", _MOST_COPIED)
