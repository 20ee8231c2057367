"""What a report says of the run and its findings in a few words, for the terminal and for HTML alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from app.facts.devices import is_host
from app.views import units
from runners.environments.frameworks import FRAMEWORKS
from runners.printable import printable

MARKS = {"error": "!!", "warning": "! ", "info": "  "}
"""What stands before a finding in a terminal."""


def is_note(row: Mapping[str, Any]) -> bool:
    """Whether it may be folded away; what could not be seen is told first, also where it is no warning."""
    return row["severity"] == "info" and not row["evidence"].keys() >= {"what", "why"}


def finding_lines(row: Mapping[str, Any], *more: str) -> list[str]:
    """A finding for a terminal: what it is, what more is known, its line, and the fix in words or as code."""
    made, source = row.get("repair") or {}, row.get("source")
    change = (made.get("diff") or "").splitlines()
    lines = [f"{MARKS.get(row['severity'], '  ')} {row['code']}: {row['summary']}"]
    lines += [f"     {words}" for words in more]
    if source and row["severity"] != "info" and not change:
        lines.append(
            f"     {source['line']:>5} | {source['lines'][source['line'] - source['first']].strip()}"
        )
    if words := made.get("words") or row["fix"]:
        lines.append(f"     fix: {words}")
    return [printable(line) for line in [*lines, *(f"       {line}" for line in change)]]


def notes_told(notes: int, advising: int) -> str:
    """What stands above folded notes: ``12 notes, 2 with advice``."""
    told = units.plural(notes, "note")
    return f"{told}, {units.count(advising)} with advice" if advising else told


def folded_told(rows: Sequence[Mapping[str, Any]], command: str, *, beside: bool) -> str:
    """``and 12 notes: python3 -m app report RUN --notes``; `beside`: others stand above."""
    told = notes_told(len(rows), sum(bool(row["fix"]) for row in rows))
    return f"{'and ' if beside else ''}{told}: {command}"


def status_told(report: Mapping[str, Any]) -> str:
    """``failed (exit status 1)``."""
    code = report["exit_code"]
    return f"{report['status']}" if code is None else f"{report['status']} (exit status {code})"


def steps_told(report: Mapping[str, Any]) -> str:
    """``3 steps``; where the program counts others than optimizers were applied, both."""
    applied, own = report["steps"], report.get("progress")
    if own is None:
        return "no optimizer steps" if applied is None else units.plural(applied, "step")
    if applied == own["step"] == (own["total"] or applied):
        return units.plural(applied, "step")
    told = f"{own['step']} of {own['total']} steps" if own["total"] else f"step {own['step']}"
    beside = "no optimizer step recorded" if applied is None else units.plural(applied, "optimizer step")
    return f"{told} by its own count, {beside}"


def found_told(report: Mapping[str, Any]) -> str:
    """``1 error, 2 warnings, 4 notes``; '' where nothing was recorded, so that none is no good news."""
    if nothing_recorded(report):
        return ""
    names = {"error": "error", "warning": "warning", "info": "note"}
    numbers = Counter(row["severity"] for row in report["findings"])
    told = [units.plural(numbers[severity], name) for severity, name in names.items() if numbers[severity]]
    return ", ".join([*told, *filter(None, [not_seen(report["hidden"])])]) or "no findings"


def findings_title(report: Mapping[str, Any]) -> str:
    """What stands over the findings; a pre-flight has two kinds."""
    return "Findings of these steps here" if "foreseen" in report else "Findings"


def nothing_found(report: Mapping[str, Any]) -> str:
    """What stands in place of findings: where only the host was used, that proves nothing of GPUs."""
    used = {row["device"] for row in report["placement"] if row["ops"]}
    on_host = "; all ops ran on cpu:0, where nothing can cross" if used and all(map(is_host, used)) else ""
    return nothing_recorded(report) or f"none{on_host}"


def nothing_recorded(report: Mapping[str, Any]) -> str:
    """Why a report is empty, '' where something was recorded: then no finding is good news."""
    if report["devices"] or report["placement"] or report["hops"] or report["syncs"]:
        return ""
    ended = report["status"] not in ("starting", "running")
    titles = [framework.title for framework in FRAMEWORKS.values()]
    return (
        f"nothing was recorded: no process of the run got to use {' or '.join(titles)}"
        if ended
        else "nothing is recorded yet"
    )


def heading(loud: bool, hidden: str) -> str:
    """``nothing needs attention`` above findings, unless some do: in what was seen, where much was not."""
    calm = f"nothing needs attention{' in what was seen' if hidden else ''}"
    return "; ".join(filter(None, ["" if loud else calm, not_seen(hidden)]))


def not_seen(hidden: str) -> str:
    """``not seen: ops inside step``, of `app.diagnosis.detectors.unseen_work`."""
    return f"not seen: {hidden}" if hidden else ""
