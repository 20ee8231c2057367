"""The report of a pre-flight: what its run's notes foresee, as plain data and as text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.analysis.kernels.shipped import read_table, shipped_table
from app.analysis.preflight.flow import parse_flow
from app.analysis.preflight.foresee import Foreseen, foresee
from app.analysis.preflight.mxnet import foresee_mxnet
from app.analysis.tables import tables_of
from app.store.dataflow import own_kernels, read_dataflow
from app.store.run import open_run
from app.views import units
from runners.errors import HopscopeError
from runners.run import Run, read_run

VERSION = 1
_MARKS = {"error": "!!", "warning": "! ", "info": "  "}


def is_preflight(run: Run) -> bool:
    """Whether a run was made to foresee another."""
    return isinstance(run.spec.get("preflight"), Mapping)


def preflight_report(path: Path) -> dict[str, Any]:
    """What the pre-flight in a run's folder foresees. HopscopeError where nothing in it can be read."""
    run = read_run(path)
    if not is_preflight(run):
        raise HopscopeError(f"{run.id} is no pre-flight; make one: python3 -m app preflight -- SCRIPT")
    wanted = int(run.spec["preflight"].get("gpus") or 0)
    if run.framework == "mxnet":
        return _head(run) | _of_mxnet(run, wanted)
    notes, problems = read_dataflow(path)
    version = str((run.spec.get("versions") or {}).get("tensorflow") or "")
    own = own_kernels(path)
    table = read_table(own) if own is not None else shipped_table()
    foreseen: list[Foreseen] = []
    for data in notes:
        try:
            foreseen.append(foresee(parse_flow(data), table, wanted, version))
        except (KeyError, TypeError, ValueError) as error:
            problems.append(f"the notes of process {data.get('pid')} cannot be read: {error!r}")
    if not foreseen:
        why = "; ".join(problems) or _nothing(run)
        raise HopscopeError(f"{run.id} foresees nothing: {why}")
    return _report(run, foreseen, problems)


def _nothing(run: Run) -> str:
    state, reason = run.judge()
    why = f", {reason}" if reason else ""
    return f"it is {state}{why}, and {run.framework} did nothing that was noted in it"


def _of_mxnet(run: Run, gpus: int) -> dict[str, Any]:
    store = open_run(run.path)
    try:
        store.seal()
        tables = tables_of(store)
        if not tables.processes:
            raise HopscopeError(f"{run.id} foresees nothing: {_nothing(run)}")
        return foresee_mxnet(tables, gpus)
    finally:
        store.close()


def _head(run: Run) -> dict[str, Any]:
    facts = {"version": VERSION, "run": run.id, "framework": run.framework}
    return facts | {"status": run.state, "exit_code": run.exit_code}


def _report(run: Run, foreseen: list[Foreseen], problems: list[str]) -> dict[str, Any]:
    # The process that worked most is the script; others are its helpers.
    chief = max(foreseen, key=lambda one: len(one.tables.keys))
    others = len(foreseen) - 1
    report = _head(run) | chief.row()
    if others:
        why = "only the process that did most is foreseen"
        report["unforeseen"].append(
            {"what": f"{others} more processes", "site": None, "count": others, "why": why}
        )
    report["unforeseen"] += [{"what": "notes", "site": None, "count": 1, "why": text} for text in problems]
    return report


def render_preflight(report: Mapping[str, Any]) -> str:
    """The report for a terminal."""
    steps = units.plural(report["steps"], "step") if report["steps"] else "no optimizer step"
    if report["steps"] and report["framework"] == "tensorflow":
        steps += " after the first"
    named = "as the script names" if report["gpus_named"] else "the script names none"
    lines = [
        f"{report['run']}  {report['framework']}  {steps}",
        f"foreseen for {units.plural(report['gpus'], 'GPU')} ({named}), by"
        f" {report['kernel_table'] or 'the contexts that the code names'}; nothing of it was measured on one",
    ]
    shares = (
        f"{row['device']} {units.plural(row['ops'], 'op')}"
        + (f" ({row['nobody_asked']} that nobody placed)" if row["nobody_asked"] else "")
        for row in report["placement"]
    )
    lines += [f"placement: {', '.join(shares)}", ""]
    lines += _findings(report)
    if report["no_kernel"]:
        lines += ["", "Without a GPU kernel, so on the host"]
        lines += [
            f"   {row['site'] or '?'}  {row['kernel']} ({row['confidence']})" for row in report["no_kernel"]
        ]
    if report["unforeseen"]:
        lines += ["", "Not foreseen"]
        lines += [
            f"   {row['what']}{' at ' + row['site'] if row['site'] else ''}: {row['why']}"
            for row in report["unforeseen"]
        ]
    return "\n".join(lines)


def _findings(report: Mapping[str, Any]) -> list[str]:
    if not report["findings"]:
        return ["Findings: none foreseen."]
    lines = ["Findings"]
    for row in report["findings"]:
        lines.append(f"{_MARKS.get(row['severity'], '  ')} {row['code']}: {row['summary']}")
        lines.append("     confidence " + ": ".join(filter(None, (row["confidence"], row["why"]))))
        lines += [f"     rule: {rule}" for rule in row["rules"]]
        if row["fix"]:
            lines.append(f"     fix: {row['fix']}")
    return lines
