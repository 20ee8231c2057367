"""Findings as cards: every text is made safe for Streamlit's Markdown here."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from app.views.text import code_span, escape_markdown

_ORDER = {"error": 0, "warning": 1, "info": 2}
_ICONS = {"error": ":material/error:", "warning": ":material/warning:", "info": ":material/info:"}
_COLORS = {"error": "red", "warning": "orange", "info": "gray"}


@dataclasses.dataclass(frozen=True)
class FindingCard:
    """One finding, worst first; all texts are Markdown that shows exactly what was found."""

    code: str
    severity: str
    icon: str
    """Material icon, as Streamlit names them."""
    color: str
    """Badge colour, as Streamlit names them."""
    summary: str
    site: str
    """The line as inline code, '' when there is none."""
    evidence: tuple[tuple[str, str], ...]
    """(what, value) pairs; the values inline code."""
    fix: str
    hops: tuple[int, ...]
    """Rows of the hop table."""


def finding_cards(findings: Iterable[Mapping[str, Any]]) -> list[FindingCard]:
    """The report's findings, errors first, otherwise in their order."""
    cards = [_card(finding) for finding in findings]
    return sorted(cards, key=lambda card: _ORDER.get(card.severity, len(_ORDER)))


def headline(findings: Iterable[Mapping[str, Any]]) -> str:
    """How many of each severity: ``1 error, 2 warnings``; '' when there is nothing to heed."""
    numbers: dict[str, int] = {}
    for finding in findings:
        severity = str(finding.get("severity") or "info")
        numbers[severity] = numbers.get(severity, 0) + 1
    return ", ".join(
        f"{numbers[name]} {name}{'' if numbers[name] == 1 else 's'}"
        for name in ("error", "warning")
        if name in numbers
    )


def _card(finding: Mapping[str, Any]) -> FindingCard:
    severity = str(finding.get("severity") or "info")
    return FindingCard(
        code=str(finding.get("code") or "unknown"),
        severity=severity,
        icon=_ICONS.get(severity, _ICONS["info"]),
        color=_COLORS.get(severity, "gray"),
        summary=escape_markdown(finding.get("summary") or ""),
        site=code_span(finding.get("site") or ""),
        evidence=tuple(_evidence(finding.get("evidence"))),
        fix=escape_markdown(finding.get("fix") or ""),
        hops=tuple(finding.get("hops") or ()),
    )


def _evidence(evidence: Any) -> Iterable[tuple[str, str]]:
    """Evidence is a mapping, a list of texts, or one text."""
    if not evidence:
        return []
    if isinstance(evidence, Mapping):
        return [(escape_markdown(name), _value(value)) for name, value in evidence.items()]
    if isinstance(evidence, list | tuple):
        return [("", _value(value)) for value in evidence]
    return [("", _value(evidence))]


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(code_span(item) for item in value)
    return code_span(value)
