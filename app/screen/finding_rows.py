"""Findings as the list on a run's page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.analysis.finding import Finding
from app.screen.focus import finding_id
from app.screen.stage import Stage
from app.views import units
from app.views.colors import is_alert


def finding_rows(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """What `app.live.findings.findings_list` draws, in the findings' own order."""
    return [
        {
            "id": finding_id(finding),
            "code": finding.code,
            "severity": finding.severity,
            "quiet": not is_alert(finding.severity),
            "site": finding.site or "",
            "summary": finding.summary,
            "fix": finding.fix or "",
            "evidence": evidence_text(finding.evidence),
            "show": f"Show {units.plural(len(finding.hops), 'hop')}" if finding.hops else "",
        }
        for finding in findings
    ]


def headline(findings: Sequence[Finding], stage: Stage) -> str:
    """``2 warnings``; or that nothing needs attention, which only a run that went to its end can say."""
    parts = []
    for severity in ("error", "warning"):
        number = sum(finding.severity == severity for finding in findings)
        if number:
            parts.append(units.plural(number, severity))
    if parts or stage.live:
        return ", ".join(parts) or "none so far"
    if stage.empty:
        return stage.empty[:1].lower() + stage.empty[1:].removesuffix(".")
    return "none: nothing needs attention" if stage.state == "finished" else "none up to where it ended"


def fold_title(findings: Sequence[Finding]) -> str:
    """What stands above the findings that only inform."""
    quiet = sum(not is_alert(finding.severity) for finding in findings)
    return f"{units.plural(quiet, 'note')}, nothing to change" if quiet else ""


def evidence_text(evidence: Mapping[str, Any]) -> str:
    """One line a fact: ``requested: gpu:1``."""
    lines = []
    for name, value in evidence.items():
        if value in (None, "", [], {}):
            continue
        label = name.removesuffix("_ns").replace("_", " ")
        lines.append(f"{label}: {_told(name, value)}")
    return "\n".join(lines)


def _told(name: str, value: Any) -> str:
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(_told(name, item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        if name.endswith("bytes"):
            return units.size(value)
        if name.endswith("_ns"):
            return units.duration(value / 1e9)
        return units.count(value)
    return str(value)
