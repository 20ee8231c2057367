"""The report of a pre-flight: what its run's notes foresee, as plain data and as text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.facts.dialects import dialect_of
from app.preflight.dialects import PREDICTIONS
from app.preflight.merged_processes import whose
from app.preflight.provenance import (
    HIGH,
    at_line,
    command_again,
    further_rule,
    libraries_first,
    library_lines,
    machine_told,
    shared_rules,
    shared_trust,
    stand_ins_told,
    steps_told,
    trust_told,
)
from app.reports.report_words import MARKS, finding_lines, folded_told, is_note
from app.views import units
from runners.errors import HopscopeError
from runners.runs.purpose import is_preflight
from runners.runs.run import read_run

VERSION = 1


def preflight_report(path: Path) -> dict[str, Any]:
    """What the pre-flight in a run's folder foresees. HopscopeError where nothing in it can be read."""
    run = read_run(path)
    if not is_preflight(run):
        raise HopscopeError(f"{run.id} is no pre-flight; make one: python3 -m app preflight -- SCRIPT")
    facts = {"version": VERSION, "run": run.id, "framework": run.framework, "again": command_again(run)}
    predict = PREDICTIONS[dialect_of(run.framework).name]
    predicted = predict(run, int(run.spec["preflight"].get("gpus") or 0))
    return facts | {"status": run.state, "exit_code": run.exit_code} | predicted


def foreseen_part(path: Path) -> dict[str, Any]:
    """What the report of a pre-flight's steps has besides: `foreseen`, None with why in `not_foreseen`."""
    try:
        return {"foreseen": preflight_report(path), "not_foreseen": ""}
    except HopscopeError as error:
        return {"foreseen": None, "not_foreseen": str(error)}


def render_preflight(report: Mapping[str, Any], folded: str = "") -> str:
    """The report for a terminal, what matters most first.

    `folded` is the command that tells the notes too, which are only counted then; '' for a report with them.
    """
    lines = [
        f"{report['run']}  {report['framework']}  {steps_told(report)}",
        f"foreseen {machine_told(report)}, by"
        f" {report['kernel_table'] or 'the contexts that the code names'}; nothing of it was measured on one",
        *filter(None, [stand_ins_told(report)]),
    ]
    shares = (
        f"{row['device']} {units.plural(row['ops'], 'op')}"
        + (f" ({row['nobody_asked']} that nobody placed)" if row["nobody_asked"] else "")
        for row in report["placement"]
    )
    lines += [f"placement: {', '.join(shares)}"]
    if report["processes"]:
        lines.append("of several processes: " + ", ".join(map(_of_process, report["processes"])))
    sections = [_findings(report, folded), _libraries(report)]
    for section in reversed(sections) if libraries_first(report) else sections:
        lines += ["", *section] if section else []
    if report["no_kernel"]:
        where = "on the host" if dialect_of(report["framework"]).places_ops else "not on a GPU"
        lines += ["", f"Without a GPU kernel, so {where}"]
        lines += [
            f"   {row['site'] or '?'}  {row['kernel']}{_unsure(row)}{_whose(row, report)}"
            for row in report["no_kernel"]
        ]
    if report["unforeseen"]:
        lines += ["", "Not foreseen"]
        lines += [
            f"   {row['what']}{at_line(row)}: {row['why']}{_whose(row, report)}"
            for row in report["unforeseen"]
        ]
    return "\n".join(lines)


def _whose(row: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    told = whose(row.get("processes") or (), len(report["processes"]))
    return f"; {told}" if told else ""


def _libraries(report: Mapping[str, Any]) -> list[str]:
    lines = ["What libraries for GPUs would do"] if report["libraries"] else []
    for row in report["libraries"]:
        first, trust, rule = library_lines(row)
        lines += [f"{MARKS.get(row['severity'], '  ')} {first}{_whose(row, report)}", trust]
        lines += [rule] if rule not in lines else []  # of several layers it is told once
    return lines


def _findings(report: Mapping[str, Any], folded: str) -> list[str]:
    if not report["findings"]:
        return ["Findings: none foreseen."]
    quiet = [row for row in report["findings"] if folded and is_note(row)]
    told = [row for row in report["findings"] if row not in quiet]
    loud = any(row["severity"] != "info" for row in told)
    lines = ["Findings" if loud else "Findings: nothing needs attention"]
    rules, trust = shared_rules(told), shared_trust(told)
    lines += [f"   each by the rule: {rule}" for rule in rules]
    lines += [f"   each with confidence {trust}"] if trust else []
    for row in told:
        unsure = [] if trust else [f"confidence {trust_told(row)}"]
        lines += finding_lines(
            row, *unsure, *(further_rule(rule, rules) for rule in row["rules"] if rule not in rules)
        )
    if quiet:
        lines.append(f"   {folded_told(quiet, folded, beside=bool(told))}")
    if report.get("again") and any(row["repair"] or row["fix"] for row in told):
        lines += ["", f"To try a fix, make it in the script, then: {report['again']}"]
    return lines


def _unsure(row: Mapping[str, Any]) -> str:
    """How far to trust that there is no kernel, where that is not sure; a finding rests on more."""
    return "" if row["confidence"] == HIGH else f" (confidence {trust_told(row)})"


def _of_process(row: Mapping[str, Any]) -> str:
    ops = sum(one["ops"] for one in row["placement"])
    steps = f", {units.plural(row['steps'], 'step')}" if row["steps"] else ""
    return f"{row['process']} ({units.plural(ops, 'op')}{steps})"
