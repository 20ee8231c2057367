"""On the page of a pre-flight: what it foresees of a machine with GPUs, above what it did here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from app.analysis.preflight.report import is_preflight, preflight_report
from app.views import units
from app.views.text import escape_markdown
from runners.errors import HopscopeError
from runners.run import Run


def draw_preflight(run: Run) -> None:
    """Draws the prediction; nothing for a run that is no pre-flight."""
    if not is_preflight(run):
        return
    if not run.ended:
        st.info(
            "A pre-flight: it ends after some steps; then here stands what it foresees.",
            icon=":material/flight:",
        )
        return
    try:
        report = _report(str(run.path))
    except HopscopeError as error:
        st.warning(escape_markdown(error), icon=":material/flight:")
        return
    st.markdown(f"### Foreseen :gray[{escape_markdown(headline(report))}]")
    if report["findings"]:
        st.dataframe(foreseen_rows(report), hide_index=True, width="stretch", key="foreseen")
    else:
        st.success("Nothing would cross that should not.", icon=":material/check:")
    if report["no_kernel"]:
        with st.expander(f"Without a GPU kernel, so on the host: {len(report['no_kernel'])}"):
            st.dataframe(lacking_rows(report), hide_index=True, width="stretch", key="lacking")
    if report["unforeseen"]:
        with st.expander(f"Not foreseen: {len(report['unforeseen'])}"):
            st.dataframe(unforeseen_rows(report), hide_index=True, width="stretch", key="unforeseen")
    st.caption("Nothing of this was measured on a GPU. Below stands what the run did here.")


@st.cache_data(max_entries=8, show_spinner=False)
def _report(path: str) -> dict[str, Any]:
    return preflight_report(Path(path))


def headline(report: Mapping[str, Any]) -> str:
    """For how many GPUs, by what, and of how many steps."""
    named = "as the script names" if report["gpus_named"] else "the script names none"
    by = report["kernel_table"] or "the contexts that the code names"
    steps = units.plural(report["steps"], "step") if report["steps"] else "no optimizer step"
    return f"for {units.plural(report['gpus'], 'GPU')} ({named}), of {steps}, by {by}"


def foreseen_rows(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """A row a finding, with how far to trust it and the rules it rests on."""
    return [
        {
            "severity": row["severity"],
            "code": row["code"],
            "line": row["site"] or "",
            "what": row["summary"],
            "confidence": ": ".join(filter(None, (row["confidence"], row["why"]))),
            "what to do": row["fix"] or "",
            "rules": "; ".join(row["rules"]),
        }
        for row in report["findings"]
    ]


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


def unforeseen_rows(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """A row for each thing that cannot be foreseen."""
    return [
        {"what": row["what"], "line": row["site"] or "", "why": row["why"]} for row in report["unforeseen"]
    ]
