"""A report for the terminal: what was not seen and the findings first, then the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from app.facts.devices import is_host
from app.reports.folded_notes import folded_told, is_note
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
from app.views import units
from runners.environments.frameworks import FRAMEWORKS
from runners.printable import printable, printable_lines

_MARKS = {"error": "!!", "warning": "! ", "info": "  "}
_WIDEST = 60
Row = Sequence[str]


def render_text(report: Mapping[str, Any], folded: str = "") -> str:
    """The whole report as lines; every number with its unit, every estimate with its basis.

    `folded` is the command that tells the notes too, which are only counted then; '' for a report with them.
    """
    found = _findings(report, folded)
    parts = [*_foreseen(report, folded), _head(report), _verdicts(report), found, *_tables(report)]
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
    status = str(report["status"])
    if report["exit_code"] is not None:
        status += f" (exit status {report['exit_code']})"
    steps = steps_told(report)
    stand_ins = [name for name, facts in report["device_map"].items() if facts.get("stand_in")]
    lines = [
        f"{_clean(report['run'])}  {_clean(report['framework'])}  {status}  {steps}",
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


def found_told(report: Mapping[str, Any]) -> str:
    """``1 error, 2 warnings, 4 notes``; '' where nothing was recorded, so that none is no good news."""
    if nothing_recorded(report):
        return ""
    names = {"error": "error", "warning": "warning", "info": "note"}
    numbers = Counter(row["severity"] for row in report["findings"])
    told = [units.plural(numbers[severity], name) for severity, name in names.items() if numbers[severity]]
    return ", ".join([*told, *filter(None, [not_seen(report["hidden"])])]) or "no findings"


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


def _on_host(report: Mapping[str, Any]) -> str:
    """Of a run that only used the host: that this proves nothing of a machine with GPUs."""
    used = {row["device"] for row in report["placement"] if row["ops"]}
    return "; all ops ran on cpu:0, where nothing can cross" if used and all(map(is_host, used)) else ""


def heading(loud: bool, hidden: str) -> str:
    """``nothing needs attention`` above findings, unless some do: in what was seen, where much was not."""
    calm = f"nothing needs attention{' in what was seen' if hidden else ''}"
    return "; ".join(filter(None, ["" if loud else calm, not_seen(hidden)]))


def not_seen(hidden: str) -> str:
    """``not seen: ops inside step``, of `app.diagnosis.detectors.unseen_functions`."""
    return f"not seen: {hidden}" if hidden else ""


def _findings(report: Mapping[str, Any], folded: str) -> str:
    title = "Findings of these steps here" if "foreseen" in report else "Findings"
    if not report["findings"]:
        return f"{title}: {nothing_recorded(report) or 'none' + _on_host(report)}."
    loud = sum(row["severity"] != "info" for row in report["findings"])
    lines = [": ".join(filter(None, [title, heading(bool(loud), report["hidden"])]))]
    quiet = [row for row in report["findings"] if folded and is_note(row)]
    for row in report["findings"]:
        if folded and is_note(row):
            continue
        lines.append(f"{_MARKS.get(row['severity'], '  ')} {row['code']}: {_clean(row['summary'])}")
        if row.get("because"):
            lines.append(f"     why: {_clean(row['because'])}")
        lines += _excerpt(row)
        if row["fix"]:
            lines.append(f"     fix: {_clean((row.get('repair') or {}).get('words') or row['fix'])}")
        lines += _change(row)
    if quiet:
        lines.append(f"   {folded_told(quiet, folded, beside=len(lines) > 1)}")
    return "\n".join(lines)


def _change(row: Mapping[str, Any]) -> list[str]:
    """The fix as code."""
    diff = (row.get("repair") or {}).get("diff") or ""
    return [f"       {_clean(line)}" for line in diff.splitlines()]


def _excerpt(row: Mapping[str, Any]) -> list[str]:
    """The line itself, of what is worth a change and has none as code."""
    source = row.get("source")
    if not source or not row["fix"] or row.get("repair"):
        return []
    text = source["lines"][source["line"] - source["first"]].strip()
    return [f"     {source['line']:>5} | {_clean(text)}"]


def _tables(report: Mapping[str, Any]) -> list[str]:
    hops = sorted(enumerate(report["hops"]), key=lambda item: -_total(item[1]))
    times = ("estimated",) if timed(report) else ()
    return [
        _table(
            "Placement",
            ("device", "ops"),
            [(row["device"], units.count(row["ops"])) for row in report["placement"]],
        ),
        _table(
            "Hops",
            ("#", "from", "to", "tensor", "for", "bytes", *times, "count", "site", "cause", "basis"),
            [_hop(index, row, bool(times)) for index, row in hops],
        ),
        _table(
            "Collectives",
            ("op", "devices", "tensors", "payload", "on the wire", "algorithm", "count", "site", "basis"),
            collective_rows(report),
        ),
        _table(
            "Syncs",
            ("device", "kind", "site", "count", "waited", "of it copying", "basis"),
            sync_rows(report),
        ),
        _table(
            "Memory",
            ("device", "peak", "basis"),
            memory_rows(report),
        ),
        _samples(report),
        _table(
            "Ops",
            ("name", "type", "requested", "assigned", "site"),
            [
                (
                    row["name"],
                    row["type"],
                    row["requested"] or "-",
                    row["assigned"],
                    row["site"] or units.UNKNOWN,
                )
                for row in report.get("ops", ())
            ],
        ),
    ]


def _samples(report: Mapping[str, Any]) -> str:
    heads = ("of", "samples", "busy", "peak memory", "power", "energy")
    remarks = [f"   {_clean(remark)}" for remark in sample_remarks(report)]
    return "\n".join(filter(None, [_table(samples_title(report), heads, sample_rows(report)), *remarks]))


def _hop(index: int, row: Mapping[str, Any], with_time: bool) -> Row:
    return (
        str(index),
        endpoint(row["src"], row["src_memory"]),
        endpoint(row["dst"], row["dst_memory"]),
        row["tensor"],
        row["op"],
        units.size(row["bytes"]),
        *((copy_time(row),) if with_time else ()),
        units.times(row["count"]),
        row["site"] or units.UNKNOWN,
        row["cause"],
        row["basis"],
    )


def endpoint(device: str, memory: str) -> str:
    """A device, with its memory where that is not the one its name says: ``gpu:0 (host memory)``."""
    return f"{device} (host memory)" if memory == "host" and not device.endswith("cpu:0") else device


def _total(row: Mapping[str, Any]) -> int:
    return (row["bytes"] or 0) * (row["count"] or 0)


def _table(title: str, heads: Row, rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    cells = [heads, *([_cut(_clean(cell)) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([title, lines[0].rstrip(), rule, *(line.rstrip() for line in lines[1:])])


def _clean(value: Any) -> str:
    """Text from a program on one line, with what could drive a terminal spelled out."""
    return printable(value)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else f"..{text[2 - _WIDEST :]}"
