"""Runs a case without and with the recorder and says what differed."""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path

from runners.plan.plan import INJECT
from tests.own_programs.cases import SCRIPTS, Case
from tests.own_programs.observed import Observed, observe

EQUAL, DIFFERENT, UNSTEADY = "equal", "different", "unsteady"


@dataclasses.dataclass(frozen=True)
class Result:
    """What came of a case."""

    case: Case
    verdict: str
    """`equal`; `different`; `unsteady`: two runs without the recorder differ, so that nothing can be said."""
    differences: tuple[str, ...]
    plain: Observed
    recorded: Observed


def compare(case: Case, python: Path, folder: Path) -> Result:
    """Run it in `folder`, without the recorder and with it; once more without it where they differ."""
    here = folder / case.name.replace("/", "-")
    work, run = here / "work", here / "run"
    here.mkdir(parents=True, exist_ok=True)
    words = case.words(python)
    plain = observe(words, work, variables(case, work))
    recorded = observe(words, work, variables(case, work) | recorder_variables(run))
    differences = plain.differences(recorded, case.ignored)
    verdict = DIFFERENT if differences else EQUAL
    if differences:
        unsteady = plain.differences(observe(words, work, variables(case, work)), case.ignored)
        if unsteady:
            verdict, differences = UNSTEADY, unsteady
    traces = sorted(run.glob("trace/*.jsonl"))
    if case.traced != bool(traces):
        verdict = DIFFERENT
        differences.append("no recording" if case.traced else f"{len(traces)} recordings, none expected")
    _keep(here, "plain", plain)
    _keep(here, "recorded", recorded)
    shutil.rmtree(work, ignore_errors=True)
    return Result(case, verdict, tuple(differences), plain, recorded)


def variables(case: Case, work: Path) -> dict[str, str]:
    """The environment of a run without the recorder."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(work),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONHASHSEED": "0",
        "OWN_PROGRAMS": str(SCRIPTS),
        "OWN_FRAMEWORK": case.framework,
        **dict(case.variables),
    }


def recorder_variables(run: Path) -> dict[str, str]:
    """What the launcher adds for a recorded run."""
    return {"PYTHONPATH": str(INJECT), "HOPSCOPE_RUN_DIR": str(run), "HOPSCOPE_TRACE": "1"}


def _keep(folder: Path, name: str, observed: Observed) -> None:
    (folder / f"{name}.out").write_bytes(observed.out[: 1 << 20])
    (folder / f"{name}.err").write_bytes(observed.err[: 1 << 20])
