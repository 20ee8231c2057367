"""A report as one HTML file: no script, no outside request, all text escaped."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.preflight.library_rules import of_row
from app.preflight.provenance import libraries_first, machine_told, stand_ins_told
from app.reports.prediction_report import render_preflight
from app.reports.report_tables import Column, ReportTable, report_tables
from app.reports.report_words import (
    findings_title,
    heading,
    is_note,
    notes_told,
    nothing_found,
    status_told,
    steps_told,
)

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; font-size: .87rem }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #8884; vertical-align: top }
th.n, td.n { text-align: right; white-space: nowrap }
td.long { overflow-wrap: anywhere; min-width: 12rem; max-width: 22rem }
code { overflow-wrap: anywhere } .scroll { overflow-x: auto } .muted { opacity: .7 }
.finding { border-left: 4px solid #8888; padding: .3rem .8rem; margin: .6rem 0 }
.warning { border-color: #d9480f } .error { border-color: #c62828 }
.finding p { margin: .2rem 0 } pre { overflow-x: auto; font-size: .82rem; margin: .4rem 0 }
details { font-size: .85rem }
"""

_LONG = 24
"""Characters from which on a cell may be broken anywhere."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render_html(report: Mapping[str, Any]) -> str:
    """The whole report as a document that stands alone."""
    title = f"Hopscope report: {report['run']}"
    body = [
        f"<h1>{_text(title)}</h1>",
        *_foreseen(report),
        _head(report),
        *_verdicts(report),
        f"<h2>{findings_title(report)}</h2>",
        *_findings(report),
        *map(_table, report_tables(report)),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{_text(title)}</title><style>{_STYLE}</style></head><body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _text(value: Any) -> str:
    return html.escape(str(value), quote=True)


def _head(report: Mapping[str, Any]) -> str:
    names = [
        f"{name} (stand-in)" if (report["device_map"].get(name) or {}).get("stand_in") else name
        for name in report["devices"]
    ]
    framework = report["framework"] or "framework unknown"
    first = f"{_text(framework)} · {_text(status_told(report))} · {_text(steps_told(report))}"
    notes = "".join(f'<p class="muted">Note: {_text(note)}</p>' for note in report.get("notes", ()))
    return f"<p>{first}<br>Devices: {_text(', '.join(names))}</p>{notes}"


def _foreseen(report: Mapping[str, Any]) -> list[str]:
    """Of a pre-flight what it foresees, and that all below is of its steps here."""
    if "foreseen" not in report:
        return []
    found = report["foreseen"]
    if found is None:
        parts = [f"<p>Nothing: {_text(report['not_foreseen'])}</p>"]
    else:
        rows = [row | {"hops": []} for row in found["findings"]]  # they number those that are foreseen
        findings = _by_weight(rows) if rows else ["<p>No finding is foreseen.</p>"]
        libraries = _libraries(found)
        both = [*libraries, *findings] if libraries_first(found) else [*findings, *libraries]
        parts = [
            f"<p>Foreseen {_text(machine_told(found))}; nothing of it was measured on one.</p>",
            *(f"<p>{_text(told)}</p>" for told in filter(None, [stand_ins_told(found)])),
            *both,
            f"<details><summary>In full</summary><pre>{_text(render_preflight(found))}</pre></details>",
        ]
    return ["<h2>Foreseen by this pre-flight</h2>", *parts, "<h2>What its steps did here</h2>"]


def _libraries(found: Mapping[str, Any]) -> list[str]:
    """What libraries for GPUs would do, as far as it needs attention."""
    return [
        f'<div class="finding {row["severity"]}"><p>{_text(of_row(row)[0])}</p></div>'
        for row in found["libraries"]
        if row["severity"] != "info"
    ]


def _verdicts(report: Mapping[str, Any]) -> list[str]:
    lines = [
        f"<p><strong>{_text(row['verdict'])}</strong>: {_text(row['text'])}</p>"
        for row in report.get("verdicts", ())
    ]
    return ["<h2>Claim</h2>", *lines] if lines else []


def _findings(report: Mapping[str, Any]) -> list[str]:
    if not report["findings"]:
        told = nothing_found(report)
        return [f"<p>{_text(told[0].upper() + told[1:])}.</p>"]
    return _by_weight(report["findings"], report["hidden"])


def _by_weight(rows: Sequence[Mapping[str, Any]], hidden: str = "") -> list[str]:
    """Cards of what needs attention, the others folded away; `hidden`: what of the run was not seen."""
    quiet = [row for row in rows if is_note(row)]
    loud = [row for row in rows if not is_note(row)]
    told = heading(any(row["severity"] != "info" for row in rows), hidden)
    parts = [f"<p>{_text(told[0].upper() + told[1:])}.</p>"] if told else []
    parts += _cards(loud)
    if quiet:
        told = notes_told(len(quiet), sum(bool(_fix(row)) for row in quiet))
        parts += [f"<details><summary>{told}</summary>", *_cards(quiet), "</details>"]
    return parts


def _cards(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    parts = []
    for row in rows:
        severity = row["severity"] if row["severity"] in ("error", "warning") else "info"
        why = f"<p>{_text(row['because'])}</p>" if row.get("because") else ""
        fix = _fix(row)
        hops = f" Hops: {', '.join(map(str, row['hops']))}." if row["hops"] else ""
        recorded = _text(json.dumps(row["evidence"], ensure_ascii=False, default=str))
        evidence = "<br>".join(_text(line) for line in row.get("proof") or ())
        parts.append(
            f'<div class="finding {severity}"><p><strong>{_text(row["code"])}</strong> ({severity}) '
            f"{_text(row['summary'])}</p>{why}{_excerpt(row)}{fix}"
            f"<details><summary>Evidence</summary><p>{evidence}</p>"
            f'<p class="muted">Recorded: <code>{recorded}</code>{hops}</p></details></div>'
        )
    return parts


def _fix(row: Mapping[str, Any]) -> str:
    """In words and, where there is one, as code."""
    repair = row.get("repair") or {}
    words = repair.get("words") or row["fix"]
    diff = f"<pre>{_text(repair['diff'])}</pre>" if repair.get("diff") else ""
    return (f"<p><strong>Fix</strong> {_text(words)}</p>" if words else "") + diff


def _excerpt(row: Mapping[str, Any]) -> str:
    """The lines that it speaks of, its own marked."""
    source = row.get("source")
    if not source or row["severity"] == "info":
        return ""
    lines = [
        f"<{tag}>{number:>5}  {_text(line)}</{tag}>"
        for number, line in enumerate(source["lines"], source["first"])
        for tag in ["b" if number == source["line"] else "span"]
    ]
    return f"<pre>{chr(10).join(lines)}</pre>"


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _table(table: ReportTable) -> str:
    remarks = "".join(f'<p class="muted">{_text(remark)}</p>' for remark in table.remarks)
    if not table.rows:
        return remarks
    head = "".join(f"<th{_class('n' if one.number else '')}>{_text(one.head)}</th>" for one in table.columns)
    body = "\n".join(f"<tr>{''.join(_cell(one, row) for one in table.columns)}</tr>" for row in table.rows)
    shown = f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
    return f'<h2>{_text(table.title)}</h2><div class="scroll">{shown}</div>{remarks}'


def _cell(column: Column, row: Mapping[str, Any]) -> str:
    parts = [column.write(row), column.more(row) if column.more else ""]
    text = ", ".join(filter(None, parts))
    name = "n" if column.number else "long" if len(text) > _LONG else ""
    return f"<td{_class(name)}>{_text(text)}</td>"
