"""On the page of a pre-flight: what it foresees of a machine with GPUs, above what it did here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from app.analysis.excerpt import excerpt
from app.analysis.preflight.report import is_preflight, preflight_report
from app.analysis.preflight.wording import machine_told, shared_rules, shared_trust, steps_told
from app.live.findings import findings_list
from app.screen.finding_rows import change_lines, fold_title
from app.store.sources import shown_lines
from app.views.colors import is_alert
from app.views.python_words import python_words
from app.views.text import escape_markdown
from runners.errors import HopscopeError
from runners.run import Run

TextOf = Callable[[str], str | None]
"""Gives the text of a file by its name in sites."""


def draw_preflight(run: Run, text_of: TextOf) -> str:
    """Draws the prediction; nothing for a run that is no pre-flight. `text_of` gives the files' texts.

    Gives the line of the source that was picked, '' for none.
    """
    if not is_preflight(run):
        return ""
    if not run.ended:
        st.info(
            "A pre-flight: it ends after some steps; then here stands what it foresees.",
            icon=":material/flight:",
        )
        return ""
    try:
        report = _report(str(run.path))
    except HopscopeError as error:
        st.warning(escape_markdown(error), icon=":material/flight:")
        return ""
    event = None
    st.markdown(f"### Foreseen :gray[{escape_markdown(headline(report))}]")
    if report["findings"]:
        made = foreseen_rows(report, text_of)
        if common := rests_on(report):
            st.caption(escape_markdown(common))
        event = findings_list(made, (), "foreseen", fold=fold_title(made))
        if report["again"] and any(row["fix"] for row in made):
            st.markdown(
                "**Try a fix**: make the change in the script and fly it again, from the Launch page, which"
                " remembers scripts, or by this command. What the change mends is not foreseen any more."
            )
            st.code(report["again"], language="bash", wrap_lines=True)
    else:
        st.success("Nothing would cross that should not.", icon=":material/check:")
    if report["no_kernel"]:
        with st.expander(f"Without a GPU kernel: {len(report['no_kernel'])}"):
            st.dataframe(lacking_rows(report), hide_index=True, width="stretch", key="lacking")
    if report["libraries"]:
        loud = any(is_alert(row["severity"]) for row in report["libraries"])
        with st.expander(f"What libraries for GPUs would do: {len(report['libraries'])}", expanded=loud):
            st.dataframe(library_rows(report), hide_index=True, width="stretch", key="libraries")
    if report["unforeseen"]:
        with st.expander(f"Not foreseen: {len(report['unforeseen'])}"):
            st.dataframe(unforeseen_rows(report), hide_index=True, width="stretch", key="unforeseen")
    st.caption("Nothing of this was measured on a GPU. Below stands what the run did here.")
    return str(event["site"]) if event and event["type"] == "site" else ""


@st.cache_data(max_entries=8, show_spinner=False)
def _report(path: str) -> dict[str, Any]:
    return preflight_report(Path(path))


def headline(report: Mapping[str, Any]) -> str:
    """For how many GPUs, from what, and by what."""
    by = report["kernel_table"] or "the contexts that the code names"
    return f"{machine_told(report)}, from {steps_told(report)}, by {by}"


def rests_on(report: Mapping[str, Any]) -> str:
    """What all findings have in common, told once; '' for nothing."""
    rules, trust = shared_rules(report), shared_trust(report)
    told = [f"Confidence of all: {trust}."] if trust else []
    told += [f"All rest on this: {rule}." for rule in rules]
    return " ".join(told)


def foreseen_rows(report: Mapping[str, Any], text_of: TextOf) -> list[dict[str, Any]]:
    """What `app.live.findings.findings_list` draws: how far to trust it, the rules it rests on, the lines."""
    rules, trust = shared_rules(report), shared_trust(report)
    return [_foreseen(row, text_of, rules, trust) for row in report["findings"]]


def _foreseen(
    row: Mapping[str, Any], text_of: TextOf, told_rules: Sequence[str], told_trust: str
) -> dict[str, Any]:
    quiet, site = not is_alert(row["severity"]), row["site"] or ""
    made = row.get("repair") or {}
    text = None if quiet else text_of(site.rpartition(":")[0])
    lines = excerpt(site, shown_lines(text)) if text is not None else None
    trust = ", ".join(filter(None, (f"Confidence: {row['confidence']}", row["why"])))
    return {
        "id": "",
        "name": f"{row['code']}@{site}",
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
        "evidence": "\n".join(f"rule: {rule}" for rule in row["rules"] if rule not in told_rules),
        "href": "",
        "tries": [],
        "show": "",
        "verify": "",
    }


def lacking_rows(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """A row an op and line without a kernel."""
    return [
        {
            "op": row["op"],
            "line": row["site"] or "",
            "kernels": row["kernel"],
            "from": row["from"],
            "confidence": ": ".join(filter(None, (row["confidence"], row["why"]))),
        }
        for row in report["no_kernel"]
    ]


def library_rows(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """A row for each thing that cuDNN, XLA or an exchange would do."""
    return [
        {
            "what": row["what"],
            "line": row["site"] or "",
            "severity": row["severity"],
            "confidence": ": ".join(filter(None, (row["confidence"], row["why"]))),
            "rule": f"{row['rule']} ({row['source']})",
        }
        for row in report["libraries"]
    ]


def unforeseen_rows(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """A row for each thing that cannot be foreseen."""
    return [
        {"what": row["what"], "line": row["site"] or "", "why": row["why"]} for row in report["unforeseen"]
    ]
