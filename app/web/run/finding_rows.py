"""Findings as the list on a run's page shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.diagnosis.explanation import Explained
from app.facts.lines import Excerpt
from app.judgments.finding import Finding
from app.reports.report_words import not_seen, notes_told
from app.views import units
from app.views.colors import is_alert
from app.views.python_words import python_words
from app.web.run.focus import finding_id, finding_name
from app.web.run.proof_rows import Badge, proof_rows
from app.web.run.stage import Stage


def finding_rows(
    findings: Sequence[Explained],
    verify: str = "",
    *,
    badge: Badge = lambda device: {"device": device, "hue": "", "remark": ""},
    link: Callable[[str], str] = lambda name: "",
    tries: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> list[dict[str, Any]]:
    """What `app.components.findings.findings.findings_list` draws, in the findings' own order.

    `verify` is the text of the button that leads to trying a fix; '' where nothing can be tried. `badge`
    makes a device's badge, `link` the address that shows a finding by its id opened; `tries` are the runs
    that tried a fix, by the finding's name.
    """
    return [
        _row(one, verify, badge, link) | {"tries": list((tries or {}).get(finding_name(one.finding), ()))}
        for one in findings
    ]


def _row(one: Explained, verify: str, badge: Badge, link: Callable[[str], str]) -> dict[str, Any]:
    finding = one.finding
    quiet = not is_alert(finding.severity)
    excerpt = None if quiet else _excerpt(one.excerpt)
    return {
        "id": finding_id(finding),
        "name": finding_name(finding),
        "code": finding.code,
        "severity": finding.severity,
        "quiet": quiet,
        "site": finding.site or "",
        "summary": finding.summary,
        "because": one.because,
        "excerpt": excerpt,
        "fix": (one.repair.words if one.repair else finding.fix) or "",
        "change": [] if quiet else change_lines(one.change),
        "proof": proof_rows(one.proof, badge, shown=(finding.site or "") if excerpt else ""),
        "evidence": evidence_text(finding.evidence.row()),
        "href": link(finding_id(finding)),
        "show": f"Show {units.plural(len(finding.rows), 'hop')}" if finding.hops else "",
        "verify": "" if quiet or not finding.site else verify,
    }


def _excerpt(lines: Excerpt | None) -> dict[str, Any] | None:
    return None if lines is None else lines.row() | {"words": python_words(lines.lines)}


def change_lines(diff: str) -> list[dict[str, str]]:
    """Each line of a diff with what it is: added, removed, kept, or the head of a part."""
    kinds = {"+": "added", "-": "removed", "@": "part"}
    lines = diff.splitlines()
    if sum(line.startswith("@@") for line in lines) == 1:
        lines = [line for line in lines if not line.startswith("@@")]
    return [
        {"kind": kinds.get(line[:1], "kept"), "text": line if line.startswith("@@") else line[1:]}
        for line in lines
    ]


def headline(findings: Sequence[Finding], stage: Stage, hidden: str = "") -> str:
    """``2 warnings``; or that nothing needs attention, which only a run that went to its end can say.

    `hidden` is what of much of the run was not seen: ``2 warnings; not seen: ops inside step``.
    """
    told = _headline(findings, stage, " in what was seen" if hidden else "")
    return "; ".join(filter(None, [told, not_seen(hidden)]))


def _headline(findings: Sequence[Finding], stage: Stage, of_what: str) -> str:
    parts = []
    for severity in ("error", "warning"):
        number = sum(finding.severity == severity for finding in findings)
        if number:
            parts.append(units.plural(number, severity))
    if parts or stage.live:
        return ", ".join(parts) or "none so far"
    if stage.empty:
        return stage.empty[:1].lower() + stage.empty[1:].removesuffix(".")
    if stage.flown:
        return "none"  # no good news: it ran where nothing of what is foreseen can happen
    ended = "none up to where it ended"
    return f"none: nothing needs attention{of_what}" if stage.state == "finished" else ended


def fold_title(rows: Sequence[Mapping[str, Any]]) -> str:
    """What stands above the findings that only inform: ``12 notes, 2 with advice``; of `finding_rows`."""
    quiet = [row for row in rows if row["quiet"]]
    return notes_told(len(quiet), sum(bool(row["fix"]) for row in quiet)) if quiet else ""


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
