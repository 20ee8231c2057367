"""Runs a script under the recorder, as `run` does, and reads its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from app.reports.run_report import run_report
from probes.trace.guard import FAILED
from runners.plan import launcher
from runners.plan.plan import LaunchOptions
from runners.plan.script_plan import plan_script
from runners.runs import registry
from runners.runs.run import Run
from tests.trace_schema import undeclared

SCRIPTS = Path(__file__).with_name("scripts")
LIMIT_S = 120


class Recorded(NamedTuple):
    """A finished run and what its report says."""

    run: Run
    report: dict[str, Any]
    log: str

    def hops(self, *names: str, **where: Any) -> list[tuple[Any, ...]]:
        """The hops whose fields equal `where`, as sorted tuples of the named fields."""
        found = (h for h in self.report["hops"] if all(h[name] == value for name, value in where.items()))
        return sorted((tuple(hop[name] for name in names) for hop in found), key=str)


def record(
    python: Path,
    script: Path,
    *args: str,
    framework: str = "tensorflow",
    exact: bool = False,
    may_fail: bool = False,
) -> Recorded:
    """Run a script to its end in $HOPSCOPE_HOME; `may_fail`: the recorder's own errors are expected."""
    words = [str(script), *args]
    plan = plan_script(words, framework=framework, launch=LaunchOptions(python=str(python), exact=exact))
    run = registry.wait(launcher.launch(plan), LIMIT_S)
    assert run.ended, f"still {run.state} after {LIMIT_S} s"
    report = run_report(run.path)
    assert may_fail or not [row for row in report["unseen"] if FAILED in row["why"]], report["unseen"]
    assert may_fail or not (wrong := undeclared(run.path)), wrong
    return Recorded(run, report, run.log.read_text(errors="replace"))


def written(folder: Path, text: str, name: str = "script.py") -> Path:
    """A script with this text."""
    path = folder / name
    path.write_text(text)
    return path


def by(rows: Sequence[Mapping[str, Any]], **where: Any) -> list[Mapping[str, Any]]:
    """The rows whose fields equal `where`."""
    return [row for row in rows if all(row[name] == value for name, value in where.items())]
