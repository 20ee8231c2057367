"""Runs the labelled set (tests/labelled/) of a framework, recorded, in forks of one process, and scores it.

`python -m benchmarks.labelled_causes` does the same with a process of its own for each case, as `run` has it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from app.reports.prediction_report import preflight_report
from app.reports.run_report import run_report
from benchmarks.labelled.cases import Case
from benchmarks.labelled.scoring import Score, failed, score_report
from probes.trace.preflight import STEPS_VARIABLE
from runners.errors import HopscopeError

SERVER = Path(__file__).with_name("script_server.py")
IMPORTED = {"tensorflow": "tensorflow,keras", "mxnet": "mxnet"}
"""What the one process imports for all its forks: TensorFlow itself imports Keras when that is first used."""
LIMIT_S = 540


class NotReached(NamedTuple):
    """What is known to go wrong with a case; each item as `faults` names it."""

    why: str
    faults: frozenset[str]

    @classmethod
    def of(cls, why: str, *faults: str) -> NotReached:
        return cls(why, frozenset(faults))


def faults(one: Score) -> set[str]:
    """All that is wrong with a case, a line each, without the wording of findings."""
    missed = {f"missed: {miss.label}" for miss in one.missed}
    wrong = {f"wrong cause: {miss.label.site}" for miss in one.wrong}
    false = {f"false: {told}" for told in one.false}
    return missed | wrong | false | ({one.failure.partition(":")[0]} if one.failure else set())


def scores(python: Path, cases: Sequence[Case], folder: Path) -> dict[str, Score]:
    """Each case's score, by its name; `folder` is for the runs."""
    told = reports(python, cases, folder)
    return {case.name: _score(case, told[case.name]) for case in cases}


def reports(python: Path, cases: Sequence[Case], folder: Path) -> dict[str, dict[str, Any] | str]:
    """Each case's report, by its name, or what went wrong instead; `folder` is for the runs."""
    framework = cases[0].framework
    runs = [folder / case.name for case in cases]
    for run in runs:
        (run / "trace").mkdir(parents=True)
    requests = [_request(case, run) for case, run in zip(cases, runs, strict=True)]
    done = subprocess.run(
        [python, SERVER, IMPORTED[framework]],
        input=json.dumps(requests) + "\n",
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    ended = json.loads(done.stdout)
    return {
        case.name: _report(case, run, status, err)
        for case, run, (status, _, err) in zip(cases, runs, ended, strict=True)
    }


def _request(case: Case, run: Path) -> dict[str, Any]:
    return {
        "words": [str(case.script), *case.args],
        "module": case.module or None,
        "cwd": str(case.folder),
        "env": dict(case.env) | ({STEPS_VARIABLE: "3"} if case.preflight else {}),
        "record": str(run),
    }


def _report(case: Case, run: Path, status: int, err: str) -> dict[str, Any] | str:
    if status != case.exit:
        return f"ended with status {status}, not {case.exit}: {err[-2000:]}"
    if not case.preflight:
        return run_report(run)
    (run / "spec.json").write_text(json.dumps({"framework": case.framework, "preflight": {"steps": 3}}))
    try:
        return preflight_report(run)
    except HopscopeError as error:
        return f"{error}: {err[-2000:]}"


def _score(case: Case, report: dict[str, Any] | str) -> Score:
    return failed(case, report) if isinstance(report, str) else score_report(case, report)
