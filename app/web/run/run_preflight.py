"""On the page of a pre-flight: what it foresees of a machine with GPUs, above what it did here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from app.components.findings.findings import findings_list
from app.components.shared.event import Event
from app.components.table.table import Column, table
from app.facts.lines import excerpt
from app.fixes.code.edits import Repair
from app.preflight.comparison import named, to_mend
from app.preflight.provenance import (
    further_rule,
    libraries_first,
    machine_told,
    shared_rules,
    shared_trust,
    stand_ins_told,
    steps_told,
)
from app.store.sources import shown_lines
from app.views.colors import is_alert
from app.views.python_words import python_words
from app.views.text import escape_markdown
from app.web.run.finding_rows import change_lines, fold_title
from app.web.run.preflight_report import foreseen
from app.web.run.verify_form import Subject
from runners.errors import HopscopeError
from runners.runs.purpose import is_preflight
from runners.runs.run import Run

TextOf = Callable[[str], str | None]
"""Gives the text of a file by its name in sites."""
Tries = Mapping[str, Sequence[Mapping[str, Any]]]
LACKING = (
    Column("op", "Op", "code"),
    Column("line", "Line", "site"),
    Column("kernels", "Kernels"),
    Column("from", "Told by"),
    Column("confidence", "Confidence of that"),
)
LIBRARIES = (
    Column("what", "What", width="34%"),
    Column("line", "Line", "site"),
    Column("severity", "Severity", "badge"),
    Column("confidence", "Confidence"),
    Column("rule", "Rule", width="38%"),
)
UNFORESEEN = (Column("what", "What"), Column("line", "Line", "site"), Column("why", "Why"))
FORESEEN_TOO: Mapping[str, Any] = {
    "because": "It is foreseen too: its lines and the fix stand above, told of the machine that is meant.",
    "excerpt": None,
    "fix": "",
    "change": [],
    "verify": "",
    "tries": [],
}
"""What differs in a finding of a pre-flight's own steps that is among those foreseen."""


def draw_preflight(
    run: Run,
    text_of: TextOf,
    verify: str = "",
    *,
    picked: str = "",
    link: Callable[[str], str] = lambda name: "",
    tries: Tries | None = None,
) -> Event | None:
    """Draws the prediction; nothing for a run that is no pre-flight. `text_of` gives the files' texts.

    `verify` is the text of the button that leads to trying a fix, '' where nothing can be tried; `picked` is
    the finding that the address names, `link` makes such an address; `tries` are the runs that tried a fix,
    by the finding's name. Gives what `findings_list` does.
    """
    if not is_preflight(run):
        return None
    if not run.ended:
        st.info(
            "A pre-flight: it ends after some steps; then here stands what it foresees.",
            icon=":material/flight:",
        )
        return None
    try:
        report = foreseen(run)
    except HopscopeError as error:
        st.warning(escape_markdown(error), icon=":material/flight:")
        return None
    event = None
    st.markdown(f"### Foreseen :gray[{escape_markdown(headline(report))}]")
    if assumed := stand_ins_told(report):
        st.caption(escape_markdown(assumed))
    first = libraries_first(report)
    if first:
        st.space("small")
        _draw_libraries(report)
    if report["findings"]:
        made = foreseen_rows(report, text_of, verify, link=link, tries=tries)
        if common := rests_on(report):
            st.caption(escape_markdown(common))
        shown = picked if any(row["id"] == picked for row in made) else ""
        event = findings_list(made, (), "foreseen", selected=shown, fold=fold_title(made))
    else:
        st.space("small")
        st.success("Nothing would cross that should not.", icon=":material/check:")
    if not first:
        _draw_libraries(report)
    if report["no_kernel"]:
        with st.expander(f"Without a GPU kernel: {len(report['no_kernel'])}"):
            table(LACKING, lacking_rows(report), "lacking", label="Without a GPU kernel")
    if report["unforeseen"]:
        with st.expander(f"Not foreseen: {len(report['unforeseen'])}"):
            table(UNFORESEEN, unforeseen_rows(report), "unforeseen", label="Not foreseen")
    if report["again"] and report["findings"]:
        with st.expander("Fly it again by a command"):
            st.caption("Make the change in the script itself; what that mends is not foreseen any more.")
            st.code(report["again"], language="bash", wrap_lines=True)
    st.caption("Nothing of this was measured on a GPU. Below stands what the run did here.")
    return event


def _draw_libraries(report: Mapping[str, Any]) -> None:
    if not report["libraries"]:
        return
    loud = any(is_alert(row["severity"]) for row in report["libraries"])
    with st.expander(f"What libraries for GPUs would do: {len(report['libraries'])}", expanded=loud):
        table(LIBRARIES, library_rows(report), "libraries", label="What libraries for GPUs would do")


def subject_of(run: Run, name: str) -> Subject | None:
    """The foreseen finding of this name, ``code@site``, whose fix can be tried; None for none."""
    row = _to_mend(run).get(name)
    if row is None:
        return None
    made = row.get("repair")
    return Subject(row["code"], row["site"], row["fix"], Repair.read(made) if made else None)


def foreseen_names(run: Run) -> set[str]:
    """The names of the warnings and errors that a run foresees; none for one that foresees nothing."""
    return set(_to_mend(run))


def _to_mend(run: Run) -> Mapping[str, Mapping[str, Any]]:
    if not is_preflight(run) or not run.ended:
        return {}
    try:
        return to_mend(foreseen(run))
    except HopscopeError:
        return {}


def headline(report: Mapping[str, Any]) -> str:
    """For how many GPUs, from what, and by what."""
    by = report["kernel_table"] or "the contexts that the code names"
    return f"{machine_told(report)}, from {steps_told(report)}, by {by}"


def rests_on(report: Mapping[str, Any]) -> str:
    """What all findings have in common, told once; '' for nothing."""
    rules, trust = shared_rules(report["findings"]), shared_trust(report["findings"])
    told = [f"Confidence of each: {trust}."] if trust else []
    told += [f"Each rests on this: {rule}." for rule in rules]
    return " ".join(told)


def foreseen_rows(
    report: Mapping[str, Any],
    text_of: TextOf,
    verify: str = "",
    *,
    link: Callable[[str], str] = lambda name: "",
    tries: Tries | None = None,
) -> list[dict[str, Any]]:
    """The rows of `findings_list`: how far to trust it, the rules it rests on, the lines."""
    rules, trust = shared_rules(report["findings"]), shared_trust(report["findings"])
    rows = [_foreseen(row, text_of, rules, trust) for row in report["findings"]]
    for row in rows:
        row["href"] = link(row["name"])
        row["tries"] = list((tries or {}).get(row["name"], ()))
        row["verify"] = "" if row["quiet"] or not row["site"] else verify
    return rows


def _foreseen(
    row: Mapping[str, Any], text_of: TextOf, told_rules: Sequence[str], told_trust: str
) -> dict[str, Any]:
    quiet, site = not is_alert(row["severity"]), row["site"] or ""
    made = row.get("repair") or {}
    text = None if quiet else text_of(site.rpartition(":")[0])
    lines = excerpt(site, shown_lines(text)) if text is not None else None
    trust = ", ".join(filter(None, (f"Confidence: {row['confidence']}", row["why"])))
    return {
        "id": named(row),
        "name": named(row),
        "code": row["code"],
        "severity": row["severity"],
        "quiet": quiet,
        "site": site,
        "summary": row["summary"],
        "because": "" if told_trust else f"{trust}.",
        "excerpt": lines and lines.row() | {"words": python_words(lines.lines)},
        "fix": made.get("words") or row["fix"] or "",
        "change": change_lines(made.get("diff") or ""),
        "proof": None,
        "evidence": "\n".join(
            further_rule(rule, told_rules) for rule in row["rules"] if rule not in told_rules
        ),
        "show": "",
    }


def lacking_rows(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row an op and line without a kernel."""
    return _table_rows(
        {
            "op": row["op"],
            "line": row["site"] or "",
            "kernels": row["kernel"],
            "from": row["from"],
            "confidence": _trust(row),
        }
        for row in report["no_kernel"]
    )


def library_rows(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each thing that cuDNN, XLA or an exchange would do."""
    rows = _table_rows(
        {
            "what": row["what"],
            "line": row["site"] or "",
            "severity": row["severity"],
            "confidence": _trust(row),
            "rule": f"{row['rule']} ({row['source']})",
        }
        for row in report["libraries"]
    )
    for row in rows:
        severity = row["cells"]["severity"]
        severity["tone"] = "alert" if is_alert(severity["text"]) else "quiet"
    return rows


def unforeseen_rows(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each thing that cannot be foreseen."""
    return _table_rows(
        {"what": row["what"], "line": row["site"] or "", "why": row["why"]} for row in report["unforeseen"]
    )


def _trust(row: Mapping[str, Any]) -> str:
    return ": ".join(filter(None, (row["confidence"], row["why"])))


def _table_rows(rows: Iterable[Mapping[str, str]]) -> list[dict[str, Any]]:
    """As `app.components.table.table.table` draws them."""
    return [
        {"id": str(index), "cells": {name: {"text": text} for name, text in row.items()}}
        for index, row in enumerate(rows)
    ]
