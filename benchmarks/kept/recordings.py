"""What is recorded to compare reports: labelled scripts, catalogued programs, and pre-flights of both."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from app.reports.prediction_report import preflight_report
from app.reports.run_report import run_report
from benchmarks.labelled.cases import read_cases
from benchmarks.labelled_causes import plan as plan_case
from runners.catalogue import PROGRAMS
from runners.errors import HopscopeError
from runners.plan import launcher
from runners.plan.plan import Plan
from runners.plan.preflight_plan import plan_preflight
from runners.plan.program_plan import plan_program
from runners.runs import registry
from runners.runs.purpose import is_preflight
from runners.runs.run import read_run

STEPS = 3
LIMIT_S = 300.0
_INDEX = "index.json"


@dataclasses.dataclass(frozen=True)
class Subject:
    """One program to record: ``labelled/mxnet/vae_noise``, ``program/tf-mirrored``, ``preflight/..``."""

    name: str
    plan: Callable[[], Plan]


def subjects() -> list[Subject]:
    """Every labelled script and every catalogued program, recorded and in a pre-flight."""
    return [*_labelled(), *_programs()]


def _labelled() -> Iterator[Subject]:
    for case in read_cases():
        yield Subject(f"labelled/{case.framework}/{case.name}", functools.partial(plan_case, case))
        if not case.preflight:
            foreseen = dataclasses.replace(case, preflight=True)
            yield Subject(f"preflight/{case.framework}/{case.name}", functools.partial(plan_case, foreseen))


def _programs() -> Iterator[Subject]:
    for program in PROGRAMS.values():
        yield Subject(f"program/{program.name}", functools.partial(plan_program, program.name, steps=STEPS))
        # A pre-flight is of one process; those of a cluster find each other by what their launcher sets.
        if program.cluster is None:
            yield Subject(f"preflight/{program.name}", functools.partial(_preflight, program.name))


def _preflight(name: str) -> Plan:
    planned = plan_program(name, steps=STEPS)
    return plan_preflight(planned.command[1:], framework=planned.framework, cwd=planned.cwd)


class Recordings:
    """A folder of recordings, which is their `HOPSCOPE_HOME`, with the reports that were made of them.

    Without GPUs, whatever the machine has: devices are stand-ins everywhere.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["HOPSCOPE_HOME"] = str(folder.absolute())
        os.environ["CUDA_VISIBLE_DEVICES"] = ""

    def names(self) -> list[str]:
        """What was recorded so far."""
        return sorted(self._index())

    def record(self, subject: Subject) -> None:
        """Record a program and keep its report. Raises HopscopeError where there is no report of it."""
        run = launcher.launch(subject.plan())
        ended = registry.wait(run, LIMIT_S)
        if not ended.ended:
            registry.stop(ended, grace_s=0)
            raise HopscopeError(f"{subject.name} still ran after {LIMIT_S:g} s")
        self._write(self._kept(subject.name), self._report_of(ended.path))
        with self._lock:
            self._write(self.folder / _INDEX, self._index() | {subject.name: ended.id})

    def report(self, name: str) -> dict[str, Any]:
        """The report that this code makes of a recording. Raises HopscopeError where it makes none."""
        return self._report_of(self.folder / "runs" / self._index()[name])

    def kept(self, name: str) -> dict[str, Any]:
        """The report that was made when it was recorded."""
        report: dict[str, Any] = json.loads(self._kept(name).read_text("utf-8"))
        return report

    def _report_of(self, path: Path) -> dict[str, Any]:
        run = read_run(path)
        report = preflight_report(path) if is_preflight(run) else run_report(path, ops=True)
        # As JSON has it: tuples are lists there, and keys are text.
        plain: dict[str, Any] = json.loads(json.dumps(report))
        return plain

    def _index(self) -> dict[str, str]:
        try:
            index: dict[str, str] = json.loads((self.folder / _INDEX).read_text("utf-8"))
        except FileNotFoundError:
            return {}
        return index

    def _kept(self, name: str) -> Path:
        return self.folder / "reports" / f"{name}.json"

    def _write(self, path: Path, value: Any) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(value, indent=1), "utf-8")
        fresh.replace(path)
