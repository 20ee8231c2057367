"""A report as one HTML file: no script, no outside request, all text escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.components.shared.palette import PALETTES
from app.preflight.provenance import libraries_first, library_lines, machine_told, stand_ins_told
from app.reports.prediction_report import render_preflight
from app.reports.report_tables import report_tables
from app.reports.report_words import (
    findings_title,
    heading,
    is_note,
    notes_told,
    nothing_found,
    status_told,
    steps_told,
)
from app.views.colors import Theme, device_colors
from app.views.templates import render

_COLOR_NAMES = Theme.of({name: name for name in PALETTES["light"]})


def render_html(report: Mapping[str, Any]) -> str:
    """The whole report as a document that stands alone."""
    return render(
        "reports/report.html",
        report=report,
        palettes=PALETTES,
        hues=device_colors(report["devices"], _COLOR_NAMES),
        status=status_told(report),
        steps=steps_told(report),
        foreseen=_foreseen(report["foreseen"]) if report.get("foreseen") else None,
        title=findings_title(report),
        found=_by_weight(report["findings"], nothing_found(report), report["hidden"]),
        tables=report_tables(report),
    )


def _foreseen(found: Mapping[str, Any]) -> dict[str, Any]:
    """Of a pre-flight what it foresees, of libraries for GPUs as far as it needs attention."""
    rows = [row | {"hops": []} for row in found["findings"]]  # they number those that are foreseen
    return {
        "machine": f"Foreseen {machine_told(found)}; nothing of it was measured on one.",
        "stand_ins": stand_ins_told(found),
        "findings": _by_weight(rows, "no finding is foreseen"),
        "libraries": [
            {"severity": row["severity"], "text": library_lines(row)[0]}
            for row in found["libraries"]
            if row["severity"] != "info"
        ],
        "libraries_first": libraries_first(found),
        "full": render_preflight(found),
    }


def _by_weight(rows: Sequence[Mapping[str, Any]], none: str, hidden: str = "") -> dict[str, Any]:
    """What needs attention apart from what is folded away; `hidden`: what of the run was not seen."""
    quiet = [row for row in rows if is_note(row)]
    told = heading(any(row["severity"] != "info" for row in rows), hidden) if rows else none
    return {
        "heading": f"{told[0].upper()}{told[1:]}." if told else "",
        "loud": [row for row in rows if not is_note(row)],
        "quiet": quiet,
        "folded": notes_told(len(quiet), sum(bool(row["fix"]) for row in quiet)),
    }
