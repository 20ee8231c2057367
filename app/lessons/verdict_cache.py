"""Verdicts that were judged once, kept on disk: a report of a large run takes seconds to make.

They count for as long as the runs behind them and the code that judges are what they were.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from app.facts.devices import is_gpu
from app.lessons import batch
from app.lessons.lesson import Lesson
from app.reports.run_report import run_report
from probes import private_files
from runners.errors import HopscopeError
from runners.judging import judge
from runners.plan.plan import ROOT
from runners.programs.evidence import Shown
from runners.programs.verdicts import VERDICTS, Verdict
from runners.runs import run_files
from runners.runs.registry import Run
from runners.runs.run import LOG_NAME

FOLDER_NAME = "verdicts"
_CODE = ("app/analysis", "app/store", "app/lessons", "runners/programs")
"""What a verdict follows from: the checks, the report, and how the trace and the log are read."""


def verdicts(lesson: Lesson, backed: Mapping[str, Run]) -> list[Verdict]:
    """Return the verdicts on a lesson's claim by its runs, by variant; from the cache where they are there.

    HopscopeError where a run's folder cannot be read, or the check cannot make sense of it.
    """
    key = _key(lesson, backed)
    path = batch.folder() / FOLDER_NAME / f"{lesson.program}.json"
    kept = kept_verdicts(path, key)
    if kept is not None:
        return kept
    found = judged_by(lesson.program, backed)
    # An ended run's first report packs its trace.
    _keep(path, _key(lesson, backed), found)
    return found


def judged_by(program: str, backed: Mapping[str, Run]) -> list[Verdict]:
    """Return the verdicts on a program's claim by runs of it, by variant, judged now.

    HopscopeError where a run's folder cannot be read, or the check cannot make sense of it.
    """
    try:
        shown = {name: _shown(name, run) for name, run in backed.items()}
        return judge(program, shown)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, OSError) as error:
        # A trace with a hole in it must not take all the other lessons away.
        what = f"{type(error).__name__}: {error}"
        runs = ", ".join(run.id for run in backed.values())
        raise HopscopeError(
            f"the claim could not be judged by {runs} ({what}); run the lesson again"
        ) from error


def _shown(variant: str, run: Run) -> Shown:
    spec = run.spec
    devices, options, stand_ins = spec.get("devices"), spec.get("options"), spec.get("stand_ins")
    own = own_names(map(str, devices) if isinstance(devices, list) else ())
    given = options if isinstance(options, dict) else {}
    return Shown(
        variant=variant,
        options={name: own.get(value, value) if value else value for name, value in given.items()},
        devices=tuple(own.values()),
        stand_ins=stand_ins if isinstance(stand_ins, int) else None,
        report=run_report(run.path, ops=True),
        named=tuple(own),
    )


def own_names(devices: Iterable[str]) -> dict[str, str]:
    """What a process calls the devices that a run was given: its GPUs are numbered in the order named."""
    numbers = itertools.count()
    return {name: f"gpu:{next(numbers)}" if is_gpu(name) else name for name in devices}


def _key(lesson: Lesson, backed: Mapping[str, Run]) -> str:
    facts: list[Any] = [code_digest(), lesson.program]
    for variant, run in sorted(backed.items()):
        facts.append([variant, run.id, run.status, _stamp(run.path / LOG_NAME), _files(run.path / "trace")])
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()


def _stamp(path: Path) -> list[int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]


def _files(folder: Path) -> list[Any]:
    try:
        with os.scandir(folder) as entries:
            return sorted([entry.name, entry.stat(follow_symlinks=False).st_size] for entry in entries)
    except OSError:
        return []


@functools.cache
def code_digest() -> str:
    """What the code was when this process began to judge: what is imported does not change after that."""
    return digest_of(ROOT, _CODE)


def digest_of(root: Path, packages: Iterable[str]) -> str:
    """One figure for all Python files of these packages: another one when any of them changes."""
    digest = hashlib.sha256()
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(f"{path.relative_to(root)}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def kept_verdicts(path: Path, key: str) -> list[Verdict] | None:
    """The verdicts in a kept file; None where there is none of this key, or it is damaged."""
    try:
        value = json.loads(run_files.read_file(path.parent.resolve(), path.name))
        if value["key"] != key:
            return None
        rows = [Verdict(str(row["verdict"]), str(row["text"])) for row in value["verdicts"]]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return rows if all(row.verdict in VERDICTS for row in rows) else None


def _keep(path: Path, key: str, found: list[Verdict]) -> None:
    # On a full disk they are judged again next time.
    with contextlib.suppress(OSError):
        private_files.make_folder(str(path.parent))
        kept = {"key": key, "verdicts": [row.row() for row in found]}
        private_files.replace_file(str(path), f"{json.dumps(kept, indent=1)}\n".encode())
