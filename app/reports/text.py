"""A report for the terminal: what was not seen and the findings first, then the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.reports.prediction_report import render_preflight
from app.reports.report_tables import ReportTable, report_tables
from app.reports.report_words import (
    finding_lines,
    findings_title,
    folded_told,
    heading,
    is_note,
    nothing_found,
    status_told,
    steps_told,
)
from runners.printable import printable, printable_lines

_WIDEST = 60


def render_text(report: Mapping[str, Any], folded: str = "") -> str:
    """The whole report as lines; every number with its unit, every estimate with its basis.

    `folded` is the command that tells the notes too, which are only counted then; '' for a report with them.
    """
    found = _findings(report, folded)
    parts = [
        *_foreseen(report, folded),
        _head(report),
        _verdicts(report),
        found,
        *map(_table, report_tables(report)),
    ]
    return printable_lines("\n\n".join(part for part in parts if part) + "\n")


def _foreseen(report: Mapping[str, Any], folded: str) -> list[str]:
    """Of a pre-flight what it foresees, and that all below is of its steps here."""
    if "foreseen" not in report:
        return []
    found = report["foreseen"]
    lines = render_preflight(found, folded).splitlines() if found else [f"Nothing: {report['not_foreseen']}"]
    told = "\n".join(map(_clean, ["A pre-flight. What it foresees:", *lines]))
    return [told, "What its steps did here, without those GPUs:"]


def _head(report: Mapping[str, Any]) -> str:
    framework = _clean(report["framework"] or "framework unknown")
    stand_ins = [name for name, facts in report["device_map"].items() if facts.get("stand_in")]
    lines = [
        "  ".join([_clean(report["run"]), framework, status_told(report), steps_told(report)]),
        f"devices: {', '.join(map(_clean, report['devices'])) or 'none seen'}",
    ]
    if stand_ins:
        lines.append(
            f"stand-ins (they only play GPUs, copies between them cost nothing): "
            f"{', '.join(map(_clean, stand_ins))}"
        )
    lines += [f"note: {_clean(note)}" for note in report.get("notes", ())]
    return "\n".join(lines)


def _verdicts(report: Mapping[str, Any]) -> str:
    found = report.get("verdicts", ())
    if not found:
        return ""
    lines = ["Claim"]
    for row in found:
        lines.append(f"   {_clean(row['verdict'])}: {_clean(row['text'])}")
    return "\n".join(lines)


def _findings(report: Mapping[str, Any], folded: str) -> str:
    title = findings_title(report)
    if not report["findings"]:
        return f"{title}: {nothing_found(report)}."
    loud = any(row["severity"] != "info" for row in report["findings"])
    lines = [": ".join(filter(None, [title, heading(loud, report["hidden"])]))]
    quiet = [row for row in report["findings"] if folded and is_note(row)]
    for row in report["findings"]:
        if row not in quiet:
            lines += finding_lines(row, *([f"why: {row['because']}"] if row.get("because") else []))
    if quiet:
        lines.append(f"   {folded_told(quiet, folded, beside=len(lines) > 1)}")
    return "\n".join(lines)


def _table(table: ReportTable) -> str:
    """The rows in columns under a rule, and the remarks."""
    cells = [[column.head for column in table.columns]]
    cells += [[_cut(_clean(cell)) for cell in row] for row in table.texts]
    lines = []
    if table.rows:
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        cells.insert(1, ["-" * width for width in widths])
        lines = [table.title, *(_line(row, table, widths) for row in cells)]
    return "\n".join([*lines, *(f"   {_clean(remark)}" for remark in table.remarks)])


def _line(row: Sequence[str], table: ReportTable, widths: Sequence[int]) -> str:
    cells = zip(row, table.columns, widths, strict=True)
    padded = (cell.rjust(width) if column.number else cell.ljust(width) for cell, column, width in cells)
    return "  ".join(padded).rstrip()


def _clean(value: Any) -> str:
    """Text from a program on one line, with what could drive a terminal spelled out."""
    return printable(value)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else f"..{text[2 - _WIDEST :]}"
