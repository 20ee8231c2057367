"""A report as one HTML file: no script, no outside request, all text escaped."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.preflight.library_rules import of_row
from app.preflight.provenance import libraries_first, machine_told, stand_ins_told
from app.reports.folded_notes import notes_told
from app.reports.prediction_report import render_preflight
from app.reports.report_rows import (
    collective_rows,
    copy_time,
    memory_rows,
    sample_remarks,
    sample_rows,
    samples_title,
    steps_told,
    sync_rows,
    timed,
)
from app.reports.text import endpoint, heading, nothing_recorded
from app.views import units

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
        f"<h2>{'Findings of these steps here' if 'foreseen' in report else 'Findings'}</h2>",
        *_findings(report),
        *_tables(report),
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
    steps = steps_told(report)
    status = str(report["status"])
    if report["exit_code"] is not None:
        status += f", exit status {report['exit_code']}"
    names = [
        f"{name} (stand-in)" if (report["device_map"].get(name) or {}).get("stand_in") else name
        for name in report["devices"]
    ]
    framework = report["framework"] or "framework unknown"
    first = f"{_text(framework)} · {_text(status)} · {_text(steps)}"
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
        told = nothing_recorded(report) or "none"
        return [f"<p>{_text(told[0].upper() + told[1:])}.</p>"]
    return _by_weight(report["findings"], report["hidden"])


def _by_weight(rows: Sequence[Mapping[str, Any]], hidden: str = "") -> list[str]:
    """Cards of what needs attention, the others folded away; `hidden`: what of the run was not seen."""
    loud = [row for row in rows if row["severity"] != "info"]
    quiet = [row for row in rows if row["severity"] == "info"]
    told = heading(bool(loud), hidden)
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


def _tables(report: Mapping[str, Any]) -> list[str]:
    times = ("estimated#",) if timed(report) else ()
    return [
        _table(
            "Placement",
            ("device", "ops#"),
            [(r["device"], units.count(r["ops"])) for r in report["placement"]],
        ),
        _table(
            "Hops",
            ("##", "from", "to", "tensor", "for", "bytes#", *times, "count#", "site", "cause", "basis"),
            [
                (
                    index,
                    endpoint(row["src"], row["src_memory"]),
                    endpoint(row["dst"], row["dst_memory"]),
                    row["tensor"],
                    row["op"],
                    units.size(row["bytes"]),
                    *((copy_time(row),) if times else ()),
                    units.times(row["count"]),
                    _sites(row),
                    row["cause"],
                    row["basis"],
                )
                for index, row in enumerate(report["hops"])
            ],
        ),
        _table(
            "Collectives",
            ("op", "devices", "tensors#", "payload#", "on the wire#", "algorithm", "count#", "site", "basis"),
            collective_rows(report),
        ),
        _table(
            "Syncs",
            ("device", "kind", "site", "count#", "waited#", "of it copying#", "basis"),
            sync_rows(report),
        ),
        _table(
            "Memory",
            ("device", "peak#", "basis"),
            memory_rows(report),
        ),
        _table(
            samples_title(report),
            ("of", "samples#", "busy#", "peak memory#", "power#", "energy#"),
            sample_rows(report),
        ),
        *(f'<p class="muted">{_text(remark)}</p>' for remark in sample_remarks(report)),
        _table(
            "Ops",
            ("name", "type", "requested", "assigned", "site"),
            [
                (row["name"], row["type"], row["requested"], row["assigned"], row["site"] or units.UNKNOWN)
                for row in report.get("ops", ())
            ],
        ),
    ]


def _sites(row: Mapping[str, Any]) -> str:
    parts = [row["site"] or units.UNKNOWN]
    if row["producer_site"] and row["producer_site"] != row["site"]:
        parts.append(f"produced at {row['producer_site']}")
    if row["forward_site"]:
        parts.append(f"forward at {row['forward_site']}")
    return ", ".join(parts)


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns whose head ends in # hold numbers and stand right."""
    if not rows:
        return ""
    numbers = [name.endswith("#") for name in heads]
    head = "".join(
        f"<th{_class('n' if number else '')}>{_text(name.removesuffix('#'))}</th>"
        for name, number in zip(heads, numbers, strict=True)
    )
    lines = []
    for row in rows:
        cells = (
            f"<td{_class('n' if number else 'long' if len(str(cell)) > _LONG else '')}>{_text(cell)}</td>"
            for cell, number in zip(row, numbers, strict=True)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(lines)
    table = f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
    return f'<h2>{_text(title)}</h2><div class="scroll">{table}</div>'
